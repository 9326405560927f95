/** Looking at an execution as it was. The whole page shows that moment until one comes back to now. */
import type { When } from '../generated/protocol';
import { viewAt } from './actions';
import { problemOf } from '../bridge/bridge';
import { showProblem, useStore } from './store';

let wanted: When | null = null;
let asking = false;
/** Tells a late answer that one has come back to now meanwhile. */
let journey = 0;

/** The user goes somewhere: what was playing stops there. */
export function travelTo(when: When): void {
  useStore.setState({ playing: false });
  lookAt(when);
}

/** One question at a time: of many moments that were passed over, only the last one counts. */
export function lookAt(when: When): void {
  wanted = when;
  if (!asking) void ask();
}

async function ask(): Promise<void> {
  asking = true;
  while (wanted !== null) {
    const when = wanted;
    wanted = null;
    const mine = journey;
    const { open } = useStore.getState();
    if (open.type !== 'execution') break;
    try {
      const past = await viewAt(open.executionId, when);
      useStore.setState((state) =>
        mine === journey && state.open.type === 'execution' && state.open.executionId === past.view.summary.execution_id ? { past } : state,
      );
    } catch (thrown) {
      wanted = null;
      showProblem(problemOf(thrown));
    }
  }
  asking = false;
}

export function backToNow(): void {
  wanted = null;
  journey += 1;
  useStore.setState({ past: null, playing: false });
}

/** From now one steps back to the event before the last one. */
export function stepEvent(by: number): void {
  const { past, open } = useStore.getState();
  const here = past?.view.position ?? (open.type === 'execution' ? open.view?.position : undefined);
  if (here === undefined) return;
  if (past && by > 0 && here + by > past.last) backToNow();
  else travelTo({ type: 'position', data: Math.max(here + by, 1) });
}
