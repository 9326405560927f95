/** What the graph shows of breakpoints, pins and held messages. Asked by every card at every change, so looked up, not computed. */
import type { Breakpoint, Controls, ControlView, MockAnswer, StaleNode } from '../generated/protocol';
import { type Port, portOf } from './breakpoints';
import type { State } from './store';

export type BreakMark = {
  state: 'set' | 'disabled';
  look: 'plain' | 'condition' | 'log';
  /** Its condition could not be decided for a message. */
  broken: boolean;
};

export interface NodeMarks {
  before: BreakMark | null;
  after: BreakMark | null;
  heldBefore: number;
  heldAfter: number;
  /** Of the held ones, somebody has changed one. */
  edited: boolean;
  paused: boolean;
  mock: MockAnswer['type'] | null;
  /** Its values are older than a pin or mock that leads to it. */
  stale: StaleNode | null;
}

export interface EdgeMarks {
  mark: BreakMark | null;
  held: number;
}

const NO_MARKS: NodeMarks = { before: null, after: null, heldBefore: 0, heldAfter: 0, edited: false, paused: false, mock: null, stale: null };
const NO_EDGE_MARKS: EdgeMarks = { mark: null, held: 0 };

export function nodeMarks(state: State, nodeId: string): NodeMarks {
  return marksOf(state).nodes.get(nodeId) ?? NO_MARKS;
}

export function edgeMarks(state: State, edgeId: string): EdgeMarks {
  return marksOf(state).edges.get(edgeId) ?? NO_EDGE_MARKS;
}

export function heldHere({ heldBefore, heldAfter }: NodeMarks): number {
  return heldBefore + heldAfter;
}

interface Marks {
  nodes: Map<string, NodeMarks>;
  edges: Map<string, EdgeMarks>;
}

let last: { controls: Controls; view: ControlView | null; marks: Marks } | null = null;

function marksOf(state: State): Marks {
  const { controls } = state.control;
  // What is held is held now; of a moment that is over nobody holds anything.
  const view = state.past === null ? state.control.view : null;
  if (last?.controls === controls && last.view === view) return last.marks;
  const marks = computed(controls, view);
  if (last) {
    keepEqual(marks.nodes, last.marks.nodes);
    keepEqual(marks.edges, last.marks.edges);
  }
  last = { controls, view, marks };
  return marks;
}

/** What says the same stays the same, so that its card is not drawn again. */
function keepEqual<T>(fresh: Map<string, T>, before: ReadonlyMap<string, T>): void {
  for (const [id, mark] of fresh) {
    const known = before.get(id);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(mark)) fresh.set(id, known);
  }
}

function computed(controls: Controls, view: ControlView | null): Marks {
  const marks: Marks = { nodes: new Map(), edges: new Map() };
  const change = (nodeId: string, part: Partial<NodeMarks>): void => {
    marks.nodes.set(nodeId, { ...(marks.nodes.get(nodeId) ?? NO_MARKS), ...part });
  };
  const changeEdge = (edgeId: string, part: (before: EdgeMarks) => Partial<EdgeMarks>): void => {
    const before = marks.edges.get(edgeId) ?? NO_EDGE_MARKS;
    marks.edges.set(edgeId, { ...before, ...part(before) });
  };
  const broken = brokenOnes(view);
  controls.breakpoints.forEach((breakpoint, index) => {
    const port = portOf(breakpoint.place);
    if (port === null) return;
    const mark = markOf(breakpoint, broken.has(index));
    if (port.type === 'edge') changeEdge(port.edgeId, (before) => ({ mark: stronger(before.mark, mark) }));
    else change(port.nodeId, { [port.type]: stronger(marks.nodes.get(port.nodeId)?.[port.type] ?? null, mark) });
  });
  for (const { node_id, answer } of controls.mocks) change(node_id, { mock: answer.type });
  for (const nodeId of view?.paused_nodes ?? []) change(nodeId, { paused: true });
  for (const stale of view?.stale ?? []) change(stale.node_id, { stale });
  for (const { node_id, gate, count } of view?.held_at ?? []) {
    change(node_id, gate === 'before' ? { heldBefore: count } : { heldAfter: count });
  }
  for (const { node_id, edited, why } of view?.held ?? []) {
    if (edited) change(node_id, { edited: true });
    const port = why.type === 'breakpoint' ? portAt(controls, why.index) : null;
    if (port?.type === 'edge') changeEdge(port.edgeId, ({ held }) => ({ held: held + 1 }));
  }
  return marks;
}

export function brokenOnes(view: ControlView | null): Map<number, string> {
  const broken = new Map<number, string>();
  for (const { why } of view?.held ?? []) if (why.type === 'broken_condition') broken.set(why.index, why.complaint);
  return broken;
}

function portAt({ breakpoints }: Controls, index: number): Port | null {
  const breakpoint = breakpoints[index];
  return breakpoint ? portOf(breakpoint.place) : null;
}

export function markOf({ disabled, log, condition, item, key, hits }: Breakpoint, broken: boolean): BreakMark {
  const conditional = [condition, item, key, hits].some((each) => (each ?? null) !== null);
  return { state: disabled ? 'disabled' : 'set', look: (log ?? null) !== null ? 'log' : conditional ? 'condition' : 'plain', broken };
}

/** Where two stand at one place, the one that holds is shown. */
function stronger(one: BreakMark | null, other: BreakMark): BreakMark {
  if (one === null) return other;
  return one.state === 'set' ? { ...one, broken: one.broken || other.broken } : other;
}
