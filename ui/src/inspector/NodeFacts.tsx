import type { ReactElement } from 'react';
import { Countdown } from '../shared/Countdown';
import { FiringCounts } from '../shared/FiringCounts';
import { totalOf } from '../shared/counts';
import { formatMoment, formatProgress } from '../shared/format';
import { followsTheClock, nodeViewOf } from '../state/selectors';
import { useStore } from '../state/store';
import { Fact } from './Fact';

/** What holds for the node as a whole. A join that gathers has no firing yet, so this is all there is to say about it. */
export function NodeFacts({ nodeId }: { nodeId: string }): ReactElement | null {
  const view = useStore((state) => nodeViewOf(state, nodeId));
  if (!view) return null;
  const { due, progress, counts } = view;
  const many = totalOf(counts) > 1;
  if (due === null && progress === null && !many) return null;
  return (
    <dl className="facts facts-node" aria-label="All firings">
      {many && (
        <Fact name="Firings">
          <FiringCounts counts={counts} />
        </Fact>
      )}
      {due !== null && (
        <Fact name={counts.waiting > 1 ? 'Next due' : 'Due'}>
          <Due due={due} />
        </Fact>
      )}
      {progress !== null && <Fact name="Arrived">{formatProgress(progress)}</Fact>}
    </dl>
  );
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
