/** The numbers of a card. Each has a fixed place, and the place is there before the number is. */
import type { ReactElement } from 'react';
import type { NodeView } from '../generated/protocol';
import { Countdown } from '../shared/Countdown';
import { FiringCounts } from '../shared/FiringCounts';
import { totalOf } from '../shared/counts';
import { formatDuration, formatElapsed, formatProgress } from '../shared/format';
import { LostIcon } from '../shared/LostLabel';
import { shownState } from '../shared/shownState';
import { useNow } from '../shared/useNow';
import type { Lost } from '../state/lostWaits';
import { followsTheClock } from '../state/selectors';
import { useStore } from '../state/store';
import { shownProgress } from './progress';

/** Only what is out of the ordinary: one firing goes without saying. Many of them say more than the kind, which has its icon. */
export function CardMiddle({ kind, view }: { kind: string; view: NodeView | undefined }): ReactElement {
  if (view && totalOf(view.counts) > 1) {
    return (
      <div className="card-middle card-counts">
        <FiringCounts of={view} />
      </div>
    );
  }
  return (
    <div className="card-middle">
      <span className="card-type">{kind}</span>
      {shownState(view) === 'retrying' && <span className="card-next numbers">attempt {(view?.attempts ?? 0) + 1}</span>}
    </div>
  );
}

export function CardNumbers({ view, lost }: { view: NodeView; lost: Lost }): ReactElement {
  // What one waits for can be read from farther away than the rest.
  const vital = shownProgress(view) !== null || view.state === 'waiting_timer' || lost !== '';
  return (
    <span className={`card-numbers numbers${vital ? ' card-vital' : ''}`}>
      {view.attempts > 1 && shownState(view) !== 'retrying' && <span className="card-attempts" title={`${view.attempts} attempts`}>↻ {view.attempts}</span>}
      {lost === '' ? <Foremost view={view} /> : <LostCount lost={lost} />}
    </span>
  );
}

/** No countdown beside it: the first moment that was due is one of those that have come to nothing. */
function LostCount({ lost }: { lost: Lost }): ReactElement | null {
  if (lost === 'all') return null;
  return (
    <span className="card-some-lost state-lost">
      <LostIcon />
      {lost} lost
    </span>
  );
}

const NOTEWORTHY_MS = 100;

/** The one number that matters most in this state. */
function Foremost({ view }: { view: NodeView }): ReactElement | null {
  const live = useStore(followsTheClock);
  const progress = shownProgress(view);
  if (view.state === 'waiting_timer' && view.due !== null && live) return <Countdown due={view.due} />;
  // A join that takes hardly any time of its own goes on saying what has arrived when it is done.
  const says = progress && (progress.arrived < progress.expected || view.busy_ms < NOTEWORTHY_MS);
  if (says) return <span title={`${formatProgress(progress)} arrived`}>{formatProgress(progress)}</span>;
  if (view.state === 'success' || view.state === 'failed') return <span>{formatDuration(view.busy_ms)}</span>;
  if (view.state === 'running' && view.started_at !== null && live) return <RunningFor since={view.started_at} />;
  return null;
}

function RunningFor({ since }: { since: number }): ReactElement {
  const now = useNow();
  return <span>{formatElapsed(now - since)}</span>;
}
