import type { ReactElement } from 'react';
import type { Counts, NodeView, Progress } from '../generated/protocol';
import { totalOf } from '../shared/counts';
import { gathers } from './progress';

/** The lower edge of a card: how much has arrived while it gathers, else which share of many firings is where. */
export function CardBar({ view }: { view: NodeView }): ReactElement | null {
  if (view.progress && gathers(view)) return <Gathered progress={view.progress} />;
  return totalOf(view.counts) > 1 ? <Shares counts={view.counts} /> : null;
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
const ORDER = ['success', 'failed', 'skipped', 'running', 'waiting', 'queued'] as const;

function Shares({ counts }: { counts: Counts }): ReactElement {
  return (
    <div className="card-bar" aria-hidden="true">
      {ORDER.filter((key) => counts[key] > 0).map((key) => (
        <span key={key} className={`bar-${key}`} style={{ flexGrow: counts[key] }} />
      ))}
    </div>
  );
}
