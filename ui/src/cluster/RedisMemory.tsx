import type { ReactElement } from 'react';
import type { KeyFamily, RedisView } from '../generated/protocol';
import { formatBytes, formatCount } from '../shared/format';
import { Icon } from '../shared/icons';

export function RedisMemory({ redis }: { redis: RedisView | null }): ReactElement {
  const most = Math.max(1, ...(redis?.families ?? []).map(({ bytes }) => bytes));
  return (
    <section className="cluster-part" aria-label="Redis memory">
      <h3>
        Redis memory
        {redis && (
          <span className="cluster-dim numbers">
            {formatBytes(redis.used_bytes)} in use · version {redis.version}
          </span>
        )}
      </h3>
      {redis && redis.families.length > 0 ? (
        <table className="cluster-table">
          <thead>
            <tr>
              <th scope="col">Keys of the kind</th>
              <th scope="col">Keys</th>
              <th scope="col">Memory, estimated</th>
              <th scope="col">Without an end</th>
            </tr>
          </thead>
          <tbody>
            {redis.families.map((family) => (
              <Row key={family.pattern} family={family} most={most} />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="cluster-none">How much each kind of key takes appears here after the first look through Redis.</p>
      )}
    </section>
  );
}

function Row({ family: { pattern, keys, bytes, without_end }, most }: { family: KeyFamily; most: number }): ReactElement {
  return (
    <tr>
      <th scope="row">
        <code title={pattern}>{pattern}</code>
      </th>
      <td className="numbers">{formatCount(keys)}</td>
      <td className="numbers">
        <span className="cluster-bar" aria-hidden="true">
          <span style={{ width: `${(bytes / most) * 100}%` }} />
        </span>
        {formatBytes(bytes)}
      </td>
      <td className="numbers">
        {without_end > 0 ? (
          <span className="cluster-endless" title="These keys never go away by themselves">
            <Icon name="warning" size={12} /> {formatCount(without_end)}
          </span>
        ) : (
          'none'
        )}
      </td>
    </tr>
  );
}
