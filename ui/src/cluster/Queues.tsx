import type { ReactElement } from 'react';
import type { QueueView } from '../generated/protocol';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { growthWords } from './words';

export function Queues({ queues }: { queues: QueueView[] }): ReactElement {
  return (
    <section className="cluster-part" aria-label="Queues">
      <h3>Queues</h3>
      {queues.length === 0 ? (
        <p className="cluster-none">The depths and consumers of the work queues appear here after the first look.</p>
      ) : (
        <table className="cluster-table">
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col">Messages</th>
              <th scope="col">Consumers</th>
              <th scope="col">Growth</th>
            </tr>
          </thead>
          <tbody>
            {queues.map((queue) => (
              <Row key={queue.name} queue={queue} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ queue }: { queue: QueueView }): ReactElement {
  const { sign, word } = growthWords(queue);
  const alone = queue.consumers === 0 && queue.messages > 0;
  return (
    <tr>
      <th scope="row">
        <code title={queue.name}>{queue.name}</code>
      </th>
      <td className="numbers">{formatCount(queue.messages)}</td>
      <td className={alone ? 'numbers cluster-alarm' : 'numbers'}>
        {alone && <Icon name="warning" size={12} />} {alone ? 'none' : formatCount(queue.consumers)}
      </td>
      <td className="numbers">
        {sign} <span className="cluster-dim">{word}</span>
      </td>
    </tr>
  );
}
