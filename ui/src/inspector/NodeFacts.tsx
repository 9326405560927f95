import type { ReactElement } from 'react';
import { Countdown } from '../shared/Countdown';
import { FiringCounts } from '../shared/FiringCounts';
import { totalOf } from '../shared/counts';
import { asSentence } from '../shared/errorWords';
import { formatMoment, formatProgress } from '../shared/format';
import { LOST_REASON, LOST_WORD } from '../shared/LostLabel';
import { type Lost, lostAt } from '../state/lostWaits';
import { followsTheClock, ignoredInto, nodeViewOf } from '../state/selectors';
import { useStore } from '../state/store';
import { Fact } from './Fact';

/** What holds for the node as a whole. */
export function NodeFacts({ nodeId }: { nodeId: string }): ReactElement | null {
  const view = useStore((state) => nodeViewOf(state, nodeId));
  const ignored = useStore((state) => ignoredInto(state, nodeId));
  const lost = useStore((state) => lostAt(state, nodeId));
  if (!view) return null;
  const { due, counts, retrying } = view;
  const many = totalOf(counts) > 1;
  if (due === null && lost === '' && ignored === null && !many) return null;
  return (
    <dl className="facts facts-node" aria-label="All firings">
      {many && (
        <Fact name="Firings">
          <FiringCounts of={view} />
        </Fact>
      )}
      {lost !== '' && (
        <Fact name={nameOfLost(lost)} wide>
          <span className="fact-words" data-testid="lost-reason">
            {asSentence(LOST_REASON)}.
          </span>
        </Fact>
      )}
      {/* The first moment that was due is one of those that came to nothing. */}
      {due !== null && lost === '' && (
        <Fact name={nameOfDue(counts.waiting, retrying)}>
          <Due due={due} />
        </Fact>
      )}
      {ignored !== null && (
        <Fact name="Not taken">
          <span className="fact-words">{ignored}</span>
        </Fact>
      )}
    </dl>
  );
}

/** How much a join has heard of, where nothing more is known of it. */
export function Arrived({ nodeId }: { nodeId: string }): ReactElement | null {
  const view = useStore((state) => nodeViewOf(state, nodeId));
  const progress = view?.progress ?? null;
  if (progress === null || (progress.arrived < progress.expected && view?.state === 'success')) return null;
  return (
    <dl className="facts facts-node" aria-label="What has arrived">
      <Fact name="Arrived">{formatProgress(progress)}</Fact>
    </dl>
  );
}

function nameOfLost(lost: Lost): string {
  return lost === 'all' ? LOST_WORD : `${lost} lost`;
}

function nameOfDue(waiting: number, retrying: number): string {
  if (retrying > 0) return 'Next try';
  return waiting > 1 ? 'Next due' : 'Due';
}

function Due({ due }: { due: number }): ReactElement {
  const live = useStore(followsTheClock);
  return (
    <>
      {live && <Countdown due={due} />}
      <span className={live ? 'fact-aside' : undefined}>{formatMoment(due)}</span>
    </>
  );
}
