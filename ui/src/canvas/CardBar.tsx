import type { ReactElement } from 'react';
import type { NodeView, Progress } from '../generated/protocol';
import { type CountKey, type Counted, sharesOf, totalOf } from '../shared/counts';
import { gathers } from './progress';

/** The lower edge of a card: how much has arrived while it gathers, else which share of many firings is where. */
export function CardBar({ view }: { view: NodeView }): ReactElement | null {
  if (view.progress && gathers(view)) return <Gathered progress={view.progress} />;
  return totalOf(view.counts) > 1 ? <Shares of={view} /> : null;
}

function Gathered({ progress: { arrived, expected } }: { progress: Progress }): ReactElement {
  return (
    <div className="card-bar card-gathered" aria-hidden="true">
      <span className="bar-arrived" style={{ flexGrow: arrived }} />
      <span className="bar-missing" style={{ flexGrow: Math.max(expected - arrived, 0) }} />
    </div>
  );
}

/** What is over comes first, so that it grows from the left. */
const ORDER: readonly CountKey[] = ['success', 'failed', 'skipped', 'running', 'retrying', 'waiting', 'queued'];

/** Of what is over, what was skipped is left out: a bar that ends before its end looks as if something were to come. */
const UNDER_WAY: readonly CountKey[] = ['running', 'retrying', 'waiting', 'queued'];

function Shares({ of }: { of: Counted }): ReactElement {
  const all = sharesOf(of);
  const over = !all.some(({ key }) => UNDER_WAY.includes(key));
  const done = all.filter(({ key }) => key !== 'skipped');
  const shares = (over && done.length > 0 ? done : all).toSorted((a, b) => ORDER.indexOf(a.key) - ORDER.indexOf(b.key));
  return (
    <div className="card-bar" aria-hidden="true">
      {shares.map(({ key, count }) => (
        <span key={key} className={`bar-${key}`} style={{ flexGrow: count }} />
      ))}
    </div>
  );
}
