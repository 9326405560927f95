/** The states people see. A rest before the next attempt is not the rest of a `wait`, so it has a name of its own. */
import type { FiringView, NodeState, NodeView } from '../generated/protocol';

export type ShownState = NodeState | 'retrying';

export function shownState(view: NodeView | undefined): ShownState {
  if (!view) return 'idle';
  return view.state === 'waiting_timer' && view.retrying > 0 ? 'retrying' : view.state;
}

/** A firing that rests after a failure rests because of it. */
export function shownFiringState({ state, failures }: FiringView): ShownState {
  return state === 'waiting_timer' && failures.length > 0 ? 'retrying' : state;
}
