/** Two executions side by side: what is asked for, what came of each node, and which difference is looked at. */
import { useEffect } from 'react';
import { problemOf } from '../bridge/bridge';
import type { CompareCounts, ComparisonView, Workflow } from '../generated/protocol';
import { comparisonOf, definitionOf, openExecution } from './actions';
import { Poll } from './poll';
import { type State, growPanel, selectNode, showBottom, showProblem, useStore } from './store';

const PAUSE_MILLIS = 1_000;
/** Two sides of a value need more room than a timeline. */
const ROOM = 288;

/** What a node is, looked at from both sides. */
export type Verdict = 'equal' | 'changed' | 'only_a' | 'only_b' | 'slower' | 'neither';

/** Opens `b` and holds it against `a`. */
export async function compare(a: string, b: string): Promise<void> {
  if (a === b) return;
  const opened = openExecution(b);
  useStore.setState({ compared: { a, b, answer: null, definition: null, chosen: null } });
  showBottom('compare');
  growPanel('bottom', ROOM);
  await opened;
}

export function swapCompared(): void {
  const { compared } = useStore.getState();
  if (compared) void compare(compared.b, compared.a);
}

export function stopComparing(): void {
  useStore.setState({ compared: null });
}

/** Looks at one of the differences, and at its node. */
export function chooseDifference(index: number): void {
  const { compared } = useStore.getState();
  const difference = compared?.answer?.differences[index];
  if (!compared || !difference) return;
  useStore.setState({ compared: { ...compared, chosen: index } });
  selectNode(difference.node_id);
}

/** Asks again as long as the open one goes on. */
export function useFollowComparison(): void {
  const a = useStore((state) => state.compared?.a ?? null);
  const b = useStore((state) => state.compared?.b ?? null);
  useEffect(() => {
    if (a === null || b === null) return undefined;
    const current = (): boolean => {
      const { compared } = useStore.getState();
      return compared?.a === a && compared.b === b;
    };
    const poll = new Poll({
      ask: () => Promise.all([comparisonOf(a, b), definitionOf(a), definitionOf(b)]),
      mark: () => markOf(useStore.getState(), b),
      show: ([answer, one, other]) =>
        useStore.setState((state) => {
          if (!current() || !state.compared) return state;
          // The same graph stays the same object, so that nothing is arranged anew.
          const definition = state.compared.definition ?? union(one, other);
          return { compared: { ...state.compared, answer, definition } };
        }),
      fail: (problem) => {
        if (current()) stopComparing();
        showProblem(problemOf(problem));
      },
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [a, b]);
}

function markOf({ compared, open }: State, b: string): unknown {
  if (compared?.b !== b || open.type !== 'execution' || open.executionId !== b) return null;
  return open.view?.position ?? 0;
}

/** The graph of B, and what only A had. */
export function union(a: Workflow, b: Workflow): Workflow {
  const nodes = new Set(b.nodes.map((node) => node.id));
  const ways = new Set(b.edges.map(wayOf));
  const ids = new Set(b.edges.map((edge) => edge.id));
  const gone = a.edges.filter((edge) => !ways.has(wayOf(edge)));
  return {
    ...b,
    nodes: [...b.nodes, ...a.nodes.filter((node) => !nodes.has(node.id))],
    edges: [...b.edges, ...gone.map((edge) => (ids.has(edge.id) ? { ...edge, id: `${edge.id} of A` } : edge))],
  };
}

function wayOf({ src, dst, source_handle, target_handle }: Workflow['edges'][number]): string {
  return JSON.stringify([src, dst, source_handle ?? '', target_handle ?? '']);
}

/** What became of a node on both sides. What is different counts for more than what took longer. */
export function verdictOf(counts: CompareCounts | undefined): Verdict {
  if (!counts) return 'neither';
  const { equal, changed, only_a, only_b, slower } = counts;
  const both = equal + changed;
  if (changed > 0 || (only_a > 0 && only_b > 0)) return 'changed';
  if (only_a > 0) return both > 0 ? 'changed' : 'only_a';
  if (only_b > 0) return both > 0 ? 'changed' : 'only_b';
  return slower > 0 ? 'slower' : 'equal';
}

/** Every card asks at every change, so the answer is put in order once. */
const VERDICTS = new WeakMap<ComparisonView, Map<string, Verdict>>();

function verdictsOf(answer: ComparisonView): Map<string, Verdict> {
  const known = VERDICTS.get(answer) ?? new Map(answer.nodes.map(([id, counts]) => [id, verdictOf(counts)]));
  VERDICTS.set(answer, known);
  return known;
}

/** Null where nothing is compared, or nothing is known yet. */
export function verdictAt({ compared }: State, nodeId: string): Verdict | null {
  return compared?.answer ? (verdictsOf(compared.answer).get(nodeId) ?? 'neither') : null;
}
