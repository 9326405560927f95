import { type ReactElement, useId } from 'react';
import type { FailedAttempt, FiringView } from '../generated/protocol';
import { Countdown } from '../shared/Countdown';
import { formatClock, formatDuration, formatMoment } from '../shared/format';
import { shownFiringState } from '../shared/shownState';
import { followsTheClock } from '../state/selectors';
import { useStore } from '../state/store';
import { ErrorText } from './ErrorText';

/** Attempts that came to nothing and were followed by another, in their order. What came of the last one is below. */
export function FailedAttempts({ firing }: { firing: FiringView }): ReactElement | null {
  const id = useId();
  const { failures } = firing;
  if (failures.length === 0) return null;
  const pending = shownFiringState(firing) === 'retrying';
  return (
    <section className="attempts" aria-labelledby={id} data-testid="failed-attempts">
      <h3 id={id} className="attempts-heading">
        Failed attempts <span className="badge badge-error">{failures.length}</span>
      </h3>
      <ol className="attempts-list" tabIndex={0} aria-labelledby={id}>
        {failures.map((failure, index) => (
          <li key={index} className="attempt">
            <When failure={failure} />
            <ErrorText error={failure.error} aside={<Next after={failure} pending={pending && index === failures.length - 1} />} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function When({ failure: { attempt, at, duration_ms } }: { failure: FailedAttempt }): ReactElement {
  return (
    <p className="attempt-when numbers">
      <strong>Attempt {attempt}</strong>
      <span title={formatMoment(at)}>{formatClock(at)}</span>
      <span>took {formatDuration(duration_ms)}</span>
    </p>
  );
}

function Next({ after, pending }: { after: FailedAttempt; pending: boolean }): ReactElement {
  const live = useStore(followsTheClock);
  const { tried_again_at: at, attempt } = after;
  return (
    <span className="attempt-next numbers" title={formatMoment(at)}>
      {pending && live ? (
        <>
          tries again <Countdown due={at} /> · attempt {attempt + 1}
        </>
      ) : (
        <>
          {pending ? 'to be tried' : 'tried'} again at {formatClock(at)}
        </>
      )}
    </span>
  );
}
