/** Waits that nobody will end, as the cluster they are on tells. Asked by every card at every change, so looked up, not computed. */
import type { ClusterView, MissingPart, NodeView } from '../generated/protocol';
import { nodeViewOf } from './selectors';
import type { State } from './store';

/** How many of those that wait; nothing where none is. Text, because text is equal when it says the same. */
export type Lost = '' | 'all' | `${number}` | `${number}+`;

/** At a node of the shown execution. What was found is told a moment after what has happened: what waits no longer is not lost. */
export function lostAt(state: State, nodeId: string): Lost {
  const found = keysOf(state).get(nodeId)?.size ?? 0;
  const view = nodeViewOf(state, nodeId);
  if (found === 0 || !view) return '';
  const waiting = waitingAt(view);
  if (waiting === 0) return '';
  if (found < waiting) return isCut(state) ? `${found}+` : `${found}`;
  return view.state === 'waiting_timer' ? 'all' : `${waiting}`;
}

/** The nodes of the shown execution that only wait for what is lost. Text for the same reason, a name a line. */
export function lostNodes(state: State): string {
  return [...keysOf(state).keys()].filter((node) => lostAt(state, node) === 'all').join('\n');
}

function waitingAt({ state, counts }: NodeView): number {
  return Math.max(counts.waiting, state === 'waiting_timer' ? 1 : 0);
}

/** Of very many not all are named. */
function isCut({ cluster }: State): boolean {
  return (cluster?.unlisted.lost_resume ?? 0) > 0;
}

/** Whether what a join misses is one of them: an item of its key, or something on a branch to it. */
export function isLostPart(state: State, part: MissingPart, key: string): boolean {
  const { node_id } = part.data.at;
  if (node_id === null || part.data.at.state !== 'waiting_timer') return false;
  return [...(keysOf(state).get(node_id) ?? [])].some((lost) => (part.type === 'item' ? isInside(lost, key, part.data.index) : isRelated(lost, key)));
}

function isInside(lost: string, key: string, index: number): boolean {
  const [levels, depth] = [levelsOf(lost), levelsOf(key).length];
  return levels.slice(0, depth).join('/') === key && (levels[depth]?.endsWith(`=${index}`) ?? false);
}

function isRelated(lost: string, key: string): boolean {
  return lost === key || lost === '' || key === '' || lost.startsWith(`${key}/`) || key.startsWith(`${lost}/`);
}

function levelsOf(key: string): string[] {
  return key === '' ? [] : key.split('/');
}

type Keys = ReadonlyMap<string, ReadonlySet<string>>;

const NO_KEYS: Keys = new Map();
let last: { findings: ClusterView['findings']; executionId: string; keys: Keys } | null = null;

/** By node. Of a moment that is over nobody knew it. */
function keysOf({ cluster, open, past }: State): Keys {
  if (cluster === null || open.type !== 'execution' || past !== null) return NO_KEYS;
  const { findings } = cluster;
  if (last?.findings === findings && last.executionId === open.executionId) return last.keys;
  const keys = new Map<string, Set<string>>();
  for (const { rule, execution_id, node_id, key } of findings) {
    if (rule !== 'lost_resume' || execution_id !== open.executionId || !node_id) continue;
    keys.set(node_id, (keys.get(node_id) ?? new Set()).add(key ?? ''));
  }
  last = { findings, executionId: open.executionId, keys };
  return keys;
}
