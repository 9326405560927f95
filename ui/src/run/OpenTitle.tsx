import type { ReactElement } from 'react';
import { formatDuration, formatElapsed, formatMoment } from '../shared/format';
import { PhaseLabel } from '../shared/states';
import { Ahead, useNow } from '../shared/useNow';
import { lastSeen, phaseOf, shownAhead, shownEntry, shownSummary, shownTitle } from '../state/selectors';
import { useStore } from '../state/store';

export function OpenTitle(): ReactElement {
  const title = useStore(shownTitle);
  // The whole page shows one moment, its title too.
  const past = useStore((state) => state.past);
  const latest = useStore(shownSummary);
  const summary = past?.view.summary ?? latest;
  const phase = useStore((state) => summary && phaseOf(state, summary));
  const path = useStore((state) => shownEntry(state)?.path ?? null);
  const replay = useStore((state) => state.host.mode === 'replay');
  const ahead = useStore(shownAhead);
  const seen = useStore(lastSeen);
  return (
    <div className="top-title">
      <h1 title={path ?? title}>{title}</h1>
      {summary && phase && (
        <span className="top-phase" data-testid="execution-phase" data-phase={summary.phase}>
          <PhaseLabel phase={phase} />
          {summary.ended_at !== null && (
            <span className="numbers top-time">{formatDuration(summary.ended_at - summary.started_at)}</span>
          )}
          {summary.ended_at === null && past && <span className="numbers top-time">{formatDuration(Math.max(past.at - summary.started_at, 0))}</span>}
          {summary.ended_at === null && !past && !replay && (
            <Ahead value={ahead}>{phase === 'runs' ? <Running since={summary.started_at} /> : seen !== null && <Until since={summary.started_at} seen={seen} />}</Ahead>
          )}
        </span>
      )}
    </div>
  );
}

function Running({ since }: { since: number }): ReactElement {
  const now = useNow();
  return <span className="numbers top-time">{formatElapsed(now - since)}</span>;
}

/** How long it had run when somebody looked last. */
function Until({ since, seen }: { since: number; seen: number }): ReactElement {
  return (
    <span className="numbers top-time" title={`Last seen ${formatMoment(seen)}`}>
      {formatDuration(Math.max(seen - since, 0))}
    </span>
  );
}
