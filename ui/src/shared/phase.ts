/** The phases people see. Where nobody looks any more, it is not known whether something still runs. */
import type { ClusterView, ExecutionPhase, ExecutionSummary } from '../generated/protocol';
import { isSeen, leftSince } from './left';

/** None of them is called `running`: nobody can tell a phase without asking whether it is still seen. */
export type ShownPhase = Exclude<ExecutionPhase, 'running'> | 'runs' | 'left';

type Told = Pick<ExecutionSummary, 'phase' | 'observed'>;

/** `attached` is the cluster that is looked into. */
export function shownPhase({ phase, observed }: Told, attached: ClusterView | null): ShownPhase {
  if (phase !== 'running') return phase;
  return isSeen(observed, attached) ? 'runs' : 'left';
}

/** At a moment that is over, which knows nothing of what came later. */
export function phaseThen({ phase, observed }: Told): ShownPhase {
  if (phase !== 'running') return phase;
  return leftSince(observed) === null ? 'runs' : 'left';
}

export const PHASE_WORDS: { [K in ShownPhase]: string } = {
  runs: 'Running',
  left: 'Last seen running',
  completed: 'Completed',
  failed: 'Failed',
  halted: 'Halted',
};
