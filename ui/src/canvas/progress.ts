import type { NodeView, Progress } from '../generated/protocol';

/** One of one is no progress that anybody follows. */
export function shownProgress({ progress, state }: NodeView): Progress | null {
  if (!progress || progress.expected <= 1) return null;
  // A race is over with its winner; what did not arrive by then is of no interest.
  const short = progress.arrived < progress.expected;
  return short && (state === 'success' || state === 'skipped') ? null : progress;
}

/** A join that gave up waiting is over, although not everything has arrived. */
export function gathers(view: NodeView): boolean {
  const progress = shownProgress(view);
  if (!progress || progress.arrived >= progress.expected) return false;
  return view.state === 'waiting_barrier' || view.state === 'waiting_timer' || view.state === 'running' || view.state === 'queued';
}
