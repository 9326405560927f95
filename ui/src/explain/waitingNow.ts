/** What joins wait for, with the numbers of the graph beside it: reasons are asked for calmly, and are a moment older. */
import type { ExecutionView, NodeView, Waiting } from '../generated/protocol';

export function waitingNow(waiting: readonly Waiting[], view: ExecutionView | null): Waiting[] {
  if (view === null) return [...waiting];
  const known = waiting.filter(({ node_id }) => goesOn(view.nodes[node_id])).map((each) => upToDate(each, waiting, view));
  const named = new Set(waiting.map(({ node_id }) => node_id));
  const unnamed = Object.entries(view.nodes).filter(([node, at]) => !named.has(node) && waits(at));
  return [...known, ...unnamed.map(([node, { progress }]) => ({ node_id: node, key: '', arrived: progress?.arrived ?? 0, expected: progress?.expected ?? 0, missing: [], more: 0 }))];
}

function waits({ state, progress }: NodeView): boolean {
  return state === 'waiting_barrier' && progress !== null && progress.arrived < progress.expected;
}

/** A node that the graph does not know is left as it was told. */
function goesOn(node: NodeView | undefined): boolean {
  return node === undefined || node.progress === null || (node.state !== 'success' && node.state !== 'skipped');
}

/** The graph counts over all keys, so it says something of one only where there is one. */
function upToDate(each: Waiting, all: readonly Waiting[], view: ExecutionView): Waiting {
  const progress = view.nodes[each.node_id]?.progress;
  const alone = all.filter(({ node_id }) => node_id === each.node_id).length === 1;
  if (!progress || !alone || progress.expected !== each.expected) return each;
  const { arrived, expected } = progress;
  const missing = each.missing.slice(0, Math.max(0, expected - arrived));
  return { ...each, arrived, missing, more: Math.max(0, expected - arrived - missing.length) };
}
