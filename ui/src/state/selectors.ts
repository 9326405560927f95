/** What the features ask of the state. Each answer is stable while its parts are, so subscriptions stay quiet. */
import type {
  Diagnostic,
  EdgeView,
  ExecutionSummary,
  ExecutionView,
  Finding,
  ItemDetail,
  Node,
  NodeState,
  NodeView,
  Workflow,
  WorkflowEntry,
} from '../generated/protocol';
import { wholeSentence } from '../shared/errorWords';
import { ignoredShare, ignoredWords, whyIgnored } from '../shared/ignored';
import { seenUntil } from '../shared/left';
import { type ShownPhase, phaseThen, shownPhase } from '../shared/phase';
import { own } from '../shared/record';
import { scopeOf } from '../shared/scopes';
import { type ShownState, shownState } from '../shared/shownState';
import { titleOf } from '../shared/title';
import type { State } from './store';

export function shownView(state: State): ExecutionView | null {
  if (state.open.type !== 'execution') return null;
  return state.past?.view ?? state.open.view;
}

/** The list hears of a change even before the view is there. */
export function shownSummary(state: State): ExecutionSummary | null {
  const { open } = state;
  if (open.type !== 'execution') return null;
  if (open.view) return open.view.summary;
  return state.executions.find((execution) => execution.execution_id === open.executionId) ?? null;
}

let titled: { executions: readonly ExecutionSummary[]; titles: ReadonlyMap<string, string> } | null = null;

/** Asked by every row of a list at every change, so looked up, not searched for. */
export function titleOfExecution({ executions }: State, executionId: string): string | undefined {
  if (titled?.executions !== executions) titled = { executions, titles: new Map(executions.map(({ execution_id, title }) => [execution_id, title])) };
  return titled.titles.get(executionId);
}

const NOTHING_WRONG: ReadonlyMap<string, string> = new Map();
let wrong: { findings: readonly Finding[]; sentences: ReadonlyMap<string, string> } | null = null;

/** What was found wrong with executions of the attached cluster, a sentence a line. Text for the same reason as elsewhere. */
export function wrongWith({ cluster }: State): ReadonlyMap<string, string> {
  if (cluster === null || cluster.findings.length === 0) return NOTHING_WRONG;
  if (wrong?.findings === cluster.findings) return wrong.sentences;
  const sentences = new Map<string, string>();
  for (const { execution_id, sentence } of cluster.findings) {
    if (!execution_id) continue;
    const before = sentences.get(execution_id);
    sentences.set(execution_id, before === undefined ? wholeSentence(sentence) : `${before}\n${wholeSentence(sentence)}`);
  }
  wrong = { findings: cluster.findings, sentences };
  return sentences;
}

/** What runs on a cluster that is only looked into cannot be touched from here. */
export function isObserved(state: State): boolean {
  return (shownSummary(state)?.observed ?? null) !== null;
}

/** What runs on a cluster, looked into or kept by this host: nothing here can hold it, step it or change it. */
export function runsElsewhere(state: State): boolean {
  return isObserved(state) || state.runsOn === 'cluster';
}

/** Whether this host can look into clusters. */
export function canAttach(state: State): boolean {
  return !state.host.readOnly && state.runsOn === 'here' && state.connection.type === 'live';
}

/** The file that is shown, or that the shown execution was started from. */
export function shownEntry(state: State): WorkflowEntry | null {
  const path = state.open.type === 'workflow' ? state.open.path : shownSummary(state)?.path;
  return state.workflows.find((entry) => entry.path === path) ?? null;
}

export function shownDefinition(state: State): Workflow | null {
  switch (state.open.type) {
    case 'nothing':
      return null;
    case 'workflow':
      return shownEntry(state)?.definition ?? null;
    case 'execution':
      return state.compared?.definition ?? state.open.view?.definition ?? state.open.meanwhile ?? null;
  }
}

/** Diagnostics speak about the file, so they are shown at a graph only when it is the file's. */
export function shownDiagnostics(state: State): Diagnostic[] {
  if (state.open.type === 'nothing' || fileHasChanged(state)) return NO_DIAGNOSTICS;
  return shownEntry(state)?.diagnostics ?? NO_DIAGNOSTICS;
}

const NO_DIAGNOSTICS: Diagnostic[] = [];

export function shownTitle(state: State): string {
  return shownSummary(state)?.title ?? shownEntry(state)?.title ?? '';
}

export function nodeViewOf(state: State, nodeId: string): NodeView | undefined {
  const view = shownView(state);
  return view ? own(view.nodes, nodeId) : undefined;
}

export function nodeStateOf(state: State, nodeId: string): NodeState {
  return nodeViewOf(state, nodeId)?.state ?? 'idle';
}

export function edgeViewOf(state: State, edgeId: string): EdgeView | undefined {
  const view = shownView(state);
  return view ? own(view.edges, edgeId) : undefined;
}

/** Messages along this edge that its join did not take: how many for the eye, and why. */
export function ignoredAlong(state: State, edgeId: string): string | null {
  const edge = edgeViewOf(state, edgeId);
  if (!edge || edge.ignored === 0) return null;
  const target = shownDefinition(state)?.edges.find(({ id }) => id === edgeId)?.dst ?? null;
  const node = nodeById(shownDefinition(state), target);
  const words = `${ignoredShare(edge)} ${ignoredWords(edge)}`;
  return node ? `${words}: ${whyIgnored(node, edge)}` : words;
}

/** The same for all ways into a join, by where they come from. Text, because text is equal when it says the same. */
export function ignoredInto(state: State, nodeId: string): string | null {
  const definition = shownDefinition(state);
  const parts = (definition?.edges ?? []).flatMap(({ id, src, dst }) => {
    const edge = dst === nodeId ? edgeViewOf(state, id) : undefined;
    if (!edge || edge.ignored === 0) return [];
    const source = nodeById(definition, src);
    return [`${ignoredShare(edge)} from ${source ? titleOf(source) : src} (${ignoredWords(edge)})`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}

export function fileHasChanged(state: State): boolean {
  const summary = shownSummary(state);
  const entry = shownEntry(state);
  return summary !== null && entry !== null && entry.definition_hash !== summary.definition_hash;
}

export type Runnable =
  | { type: 'ready'; entry: WorkflowEntry }
  | { type: 'blocked'; reason: string }
  /** The host cannot run anything: the button is absent. */
  | { type: 'absent' };

export function runnable(state: State): Runnable {
  if (state.host.readOnly || runsElsewhere(state) || state.connection.type === 'refused') return { type: 'absent' };
  const entry = shownEntry(state);
  if (!entry) return { type: 'blocked', reason: 'Select a workflow to run it.' };
  const errors = countSeverity(entry.diagnostics, 'error');
  if (errors > 0) return { type: 'blocked', reason: `Fix ${errors === 1 ? 'the error' : `${errors} errors`} in ${entry.path} first.` };
  if (!entry.definition) return { type: 'blocked', reason: `${entry.path} could not be read as a workflow.` };
  if (state.starting) return { type: 'blocked', reason: 'The execution is being started.' };
  return { type: 'ready', entry };
}

/** It can be stopped, wherever this host lets it run. */
export function runningExecution(state: State): string | null {
  const summary = shownSummary(state);
  return summary?.phase === 'running' && !state.host.readOnly && !isObserved(state) ? summary.execution_id : null;
}

/** It runs in an engine of this host, which can hold it. */
export function runningHere(state: State): string | null {
  return runsElsewhere(state) ? null : runningExecution(state);
}

/** Whether the shown execution and the clock on the wall go together: a replay happens at another time than what it shows. */
export function followsTheClock(state: State): boolean {
  const summary = shownSummary(state);
  return state.past === null && state.host.mode !== 'replay' && summary !== null && shownPhase(summary, state.cluster) === 'runs';
}

/** When the shown execution was seen last, on its own clock, where nobody looks any more and that is known. */
export function lastSeen(state: State): number | null {
  return seenUntil(shownSummary(state)?.observed, state.cluster);
}

/** Whether what is shown as running is only what was seen last. */
export function isLeft(state: State): boolean {
  const summary = shownSummary(state);
  return summary !== null && state.past === null && phaseOf(state, summary) === 'left';
}

/** At the moment that is shown. */
export function phaseOf(state: State, summary: ExecutionSummary): ShownPhase {
  return state.past === null ? shownPhase(summary, state.cluster) : phaseThen(summary);
}

export function shownAhead(state: State): number {
  return aheadOf(state, shownSummary(state));
}

/** How far the clock of an execution is ahead of ours: a cluster has its own. */
export function aheadOf({ cluster, clocks }: Pick<State, 'cluster' | 'clocks'>, summary: ExecutionSummary | null): number {
  const name = summary?.observed?.cluster;
  if (name === undefined) return 0;
  return cluster?.connection.name === name ? cluster.ahead : (own(clocks, name) ?? 0);
}

/** How many executions of the attached cluster are under way of which something went by unheard. Of our own workers the log says it all. */
export function patchyExecutions({ cluster, executions }: State): number {
  const patchy = ({ ended_at, observed }: ExecutionSummary): boolean =>
    ended_at === null && observed?.cluster === cluster?.connection.name && (observed?.gaps.length !== 0 || (observed.dialect === 'rune' && observed.joined_late));
  return cluster === null ? 0 : executions.filter(patchy).length;
}

/** Whether it cannot be seen at the moment what workers of the cluster do with its timers: Redis says so. */
export function cannotSeeTimers(state: State): boolean {
  return state.cluster !== null && state.cluster.redis_as_of !== null;
}

export function countSeverity(diagnostics: readonly Diagnostic[], severity: Diagnostic['severity']): number {
  return diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
}

export function nodeById(definition: Workflow | null, nodeId: string | null): Node | null {
  if (nodeId === null) return null;
  return definition?.nodes.find((node) => node.id === nodeId) ?? null;
}

export type StateCounts = { [K in ShownState]: number };

/** Nodes by state, over the whole graph. */
export function stateCounts(view: ExecutionView): StateCounts {
  const counts: StateCounts = {
    idle: 0,
    queued: 0,
    running: 0,
    waiting_timer: 0,
    retrying: 0,
    waiting_barrier: 0,
    success: 0,
    failed: 0,
    skipped: 0,
  };
  for (const node of view.definition.nodes) counts[shownState(own(view.nodes, node.id))] += 1;
  return counts;
}

/** The key of the selected item at a node; null where the node is not about that item. */
export function keyAt(state: State, nodeId: string): string | null {
  const detail = state.item?.detail;
  if (!detail) return null;
  const scope = scopeOf(shownDefinition(state), nodeId);
  const levels = detail.key.split('/');
  const about = scope.length > 0 && scope.length <= levels.length && scope.every((split, level) => levels[level]?.startsWith(`${split}=`));
  return about ? levels.slice(0, scope.length).join('/') : null;
}

/** What a node is to the selected item: on its way, beside it, or nothing to do with it. */
export function wayOf(state: State, nodeId: string): 'on' | 'off' | null {
  const item = state.item;
  if (!item?.detail) return null;
  const { split } = item.place;
  if (nodeId === split) return 'on';
  const seen = own(item.detail.nodes, nodeId);
  if (seen) return seen.state === 'skipped' ? 'off' : 'on';
  const scope = scopeOf(shownDefinition(state), nodeId);
  if (!scope.includes(split)) return null;
  // What stands deeper is on the way if a fan-out inside the item has fired.
  const inner = scope[scope.indexOf(split) + 1];
  return inner !== undefined && own(item.detail.inner, inner) !== undefined ? 'on' : 'off';
}

export function itemStateAt(state: State, nodeId: string): ShownState | null {
  const seen = state.item?.detail ? own(state.item.detail.nodes, nodeId) : undefined;
  if (!seen) return null;
  return seen.retrying ? 'retrying' : seen.state;
}

/** The edges a selected item has travelled, and those of its fan-out that it has not. */
export function edgeWay(state: State, edgeId: string, source: string): 'on' | 'off' | null {
  const item = state.item;
  if (!item?.detail) return null;
  if (item.detail.edges.includes(edgeId)) return 'on';
  const inside = source === item.place.split || scopeOf(shownDefinition(state), source).includes(item.place.split);
  return inside ? 'off' : null;
}

/** The node that tells most about an item: where it failed, where it is, or where it went last. */
export function tellingNode(detail: ItemDetail, definition: Workflow | null): string | null {
  const order = (definition?.nodes ?? []).map((node) => node.id);
  const nodes = Object.entries(detail.nodes).toSorted(([a], [b]) => order.indexOf(b) - order.indexOf(a));
  const find = (...states: NodeState[]): string | null => nodes.find(([, { state }]) => states.includes(state))?.[0] ?? null;
  return find('failed') ?? find('running', 'waiting_timer') ?? find('queued', 'waiting_barrier') ?? find('success');
}
