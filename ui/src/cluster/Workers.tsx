import type { ReactElement } from 'react';
import type { ClusterView } from '../generated/protocol';
import { formatMoment, formatRelative, plural } from '../shared/format';
import { useNow } from '../shared/useNow';
import { workerWords } from './words';

export function Workers({ cluster }: { cluster: ClusterView }): ReactElement {
  const { workers } = cluster;
  const now = useNow();
  return (
    <section className="cluster-part" aria-label="Workers">
      <h3>Workers</h3>
      {workers.length === 0 ? (
        <p className="cluster-none">{workerWords(cluster)}</p>
      ) : (
        <table className="cluster-table">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">Holds</th>
              <th scope="col">Last heard of</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ name, holds, last_seen }) => (
              <tr key={name}>
                <th scope="row">
                  <code title={name}>{name}</code>
                </th>
                <td className="numbers">{plural(holds, 'message')}</td>
                <td className="numbers" title={formatMoment(last_seen)}>
                  {formatRelative(last_seen, now)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
