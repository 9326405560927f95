/** The reducer lives in Rust; the page only puts replaced parts in their place. */
import type { ExecutionView, ViewPatch } from '../generated/protocol';

export function applyPatch(view: ExecutionView, patch: ViewPatch): ExecutionView {
  return applyPatches(view, [patch]);
}

/** Large views are copied once per batch, not once per patch. */
export function applyPatches(view: ExecutionView, patches: readonly ViewPatch[]): ExecutionView {
  const fresh = freshPatches(view, patches);
  const last = fresh.at(-1);
  if (!last) return withLoss(view, patches);
  const changed = fresh.slice(1).reduce(merged, fresh[0] ?? last);
  return {
    ...view,
    summary: last.summary,
    position: last.position,
    nodes: { ...view.nodes, ...changed.nodes },
    edges: { ...view.edges, ...changed.edges },
  };
}

/** What a full disk did not keep is no event: it is told at the position that was reached before. */
function withLoss(view: ExecutionView, patches: readonly ViewPatch[]): ExecutionView {
  const { execution_id, unkept = null } = view.summary;
  const told = patches.findLast((patch) => patch.execution_id === execution_id && patch.position === view.position)?.summary;
  return unkept === null && told?.unkept ? { ...view, summary: told } : view;
}

/** What was seen already, or belongs to another execution, does not count. */
function freshPatches(view: ExecutionView, patches: readonly ViewPatch[]): ViewPatch[] {
  let position = view.position;
  return patches.filter((patch) => {
    if (patch.execution_id !== view.summary.execution_id || patch.position <= position) return false;
    position = patch.position;
    return true;
  });
}

function merged(earlier: ViewPatch, later: ViewPatch): ViewPatch {
  return {
    ...later,
    nodes: { ...earlier.nodes, ...later.nodes },
    edges: { ...earlier.edges, ...later.edges },
  };
}
