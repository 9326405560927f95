import type { ReactElement } from 'react';
import type { QueueView } from '../generated/protocol';
import { formatCount, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { growthWords, isQuiet } from './words';

/** Those with something in them first; the others are counted, and listed for who wants to know. */
export function Queues({ queues }: { queues: QueueView[] }): ReactElement {
  const busy = queues.filter((queue) => !isQuiet(queue));
  const quiet = queues.filter(isQuiet);
  return (
    <section className="cluster-part" aria-label="Queues">
      <h3>Queues</h3>
      {queues.length === 0 && <p className="cluster-none">The depths and consumers of the work queues appear here after the first look.</p>}
      {busy.length > 0 && <Listed queues={busy} />}
      {quiet.length > 0 && (
        <details className="cluster-quiet">
          <summary>{busy.length === 0 ? allEmpty(quiet.length) : `${plural(quiet.length, 'other')} ${quiet.length === 1 ? 'is' : 'are'} empty`}</summary>
          <Listed queues={quiet} />
        </details>
      )}
    </section>
  );
}

function allEmpty(count: number): string {
  return count === 1 ? 'It is empty' : `All ${formatCount(count)} are empty`;
}

function Listed({ queues }: { queues: QueueView[] }): ReactElement {
  const most = Math.max(1, ...queues.map(({ messages }) => messages));
  return (
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
          <Row key={queue.name} queue={queue} most={most} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ queue, most }: { queue: QueueView; most: number }): ReactElement {
  const { sign, word } = growthWords(queue);
  const alone = queue.consumers === 0 && queue.messages > 0;
  return (
    <tr>
      <th scope="row">
        <code title={queue.name}>{queue.name}</code>
      </th>
      <td className="numbers">
        <span className="cluster-bar" aria-hidden="true">
          <span style={{ width: `${(queue.messages / most) * 100}%` }} />
        </span>
        <strong>{formatCount(queue.messages)}</strong>
      </td>
      <td className={alone ? 'numbers cluster-alarm' : 'numbers'}>
        {alone && <Icon name="warning" size={12} />} {alone ? 'none' : formatCount(queue.consumers)}
      </td>
      <td className="numbers">
        {sign} <span className="cluster-dim">{word}</span>
      </td>
    </tr>
  );
}
