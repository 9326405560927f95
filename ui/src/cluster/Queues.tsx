import type { ReactElement } from 'react';
import type { Finding, QueueView } from '../generated/protocol';
import { formatCount, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { AsOf } from './AsOf';
import { growthWords, isQuiet } from './words';

/** Those with something in them first; the others are counted, and listed for who wants to know. */
export function Queues({ queues, findings, asOf }: { queues: QueueView[]; findings: Finding[]; asOf: number | null }): ReactElement {
  const wrong = new Set(findings.flatMap(({ rule, queue }) => (rule === 'no_consumer' && queue ? [queue] : [])));
  const busy = queues.filter((queue) => !isQuiet(queue));
  const quiet = queues.filter(isQuiet);
  return (
    <section className="cluster-part" aria-label="Queues">
      <h3>
        Queues
        {queues.length > 0 && <AsOf at={asOf} />}
      </h3>
      {queues.length === 0 && <p className="cluster-none">The depths and consumers of the work queues appear here {asOf === null ? 'after the first look' : 'when RabbitMQ can be asked'}.</p>}
      {busy.length > 0 && <Listed queues={busy} wrong={wrong} />}
      {quiet.length > 0 && (
        <details className="cluster-quiet">
          <summary>{busy.length === 0 ? allEmpty(quiet.length) : `${plural(quiet.length, 'other')} ${quiet.length === 1 ? 'is' : 'are'} empty`}</summary>
          <Listed queues={quiet} wrong={wrong} />
        </details>
      )}
    </section>
  );
}

function allEmpty(count: number): string {
  return count === 1 ? 'It is empty' : `All ${formatCount(count)} are empty`;
}

function Listed({ queues, wrong }: { queues: QueueView[]; wrong: ReadonlySet<string> }): ReactElement {
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
          <Row key={queue.name} queue={queue} most={most} alone={wrong.has(queue.name)} />
        ))}
      </tbody>
    </table>
  );
}

/** Some queues wait for nobody; where somebody is missing, a finding says so. */
function Row({ queue, most, alone }: { queue: QueueView; most: number; alone: boolean }): ReactElement {
  const { sign, word } = growthWords(queue);
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
        {alone && <Icon name="warning" size={12} />} {queue.consumers === 0 ? 'none' : formatCount(queue.consumers)}
      </td>
      <td className="numbers">
        {sign} <span className="cluster-dim">{word}</span>
      </td>
    </tr>
  );
}
