/** Holding, stepping and changing what runs: keeps the page's knowledge of it, and carries the wishes of people to the host. */
import { useEffect, useLayoutEffect } from 'react';
import { problemOf } from '../bridge/bridge';
import type { Breakpoint, Command, Controls, ControlView, Edit, HeldMessage, MockAnswer, Problem } from '../generated/protocol';
import { controlExecution, controlsOf, heldOf, keepControls } from './actions';
import { type Port, cycled, mockOf, withBreakpoint, withMock, withoutBreakpoint, withoutMock } from './breakpoints';
import { type Aspect, type ControlState, type Following, NO_CONTROLS } from './controlState';
import { Poll } from './poll';
import { runningHere, runsElsewhere, shownSummary } from './selectors';
import { type State, selectNode, showBottom, showProblem, useStore } from './store';

const PAUSE_MILLIS = 150;

/** The file whose breakpoints may be changed here; null in a recording, for what runs elsewhere, and where no file is known. */
export function controlledPath(state: State): string | null {
  if (state.host.readOnly || runsElsewhere(state)) return null;
  return state.open.type === 'workflow' ? state.open.path : (shownSummary(state)?.path ?? null);
}

/** The execution that may be told what to do: it runs, and the page shows it as it is now. */
export function commanded(state: State): string | null {
  return state.past === null ? runningHere(state) : null;
}

/** What is held of the shown execution, and can be let go. */
export function heldNow(state: State): readonly HeldMessage[] {
  return commanded(state) === null ? NOBODY : (state.control.view?.held ?? NOBODY);
}

const NOBODY: readonly HeldMessage[] = [];

export function heldTotal(state: State): number {
  return commanded(state) === null ? 0 : (state.control.view?.held_total ?? 0);
}

/** Something stands still because people want it to. */
export function standsStill(state: State): boolean {
  const { view } = state.control;
  if (commanded(state) === null || view === null) return false;
  return view.paused || view.held_total > 0 || view.paused_nodes.length > 0;
}

/** The message that is stepped: the chosen one, else one at the selected node, else the first. */
export function selectedHeld(state: State): HeldMessage | null {
  const held = heldNow(state);
  const chosen = held.find(({ message_id }) => message_id === state.control.chosen);
  const here = held.filter(({ node_id }) => node_id === state.selectedNode);
  if (chosen && (here.length === 0 || chosen.node_id === state.selectedNode)) return chosen;
  return here[0] ?? chosen ?? held[0] ?? null;
}

/** The one at the selected node, whose values the right side shows. */
export function inspectedHeld(state: State): HeldMessage | null {
  const held = selectedHeld(state);
  return held !== null && held.node_id === state.selectedNode ? held : null;
}

export function chooseHeld(message: HeldMessage): void {
  change({ chosen: message.message_id, following: null, aspect: 'held' });
  selectNode(message.node_id);
}

export function setAspect(aspect: Aspect): void {
  change({ aspect });
}

/** Keeps what is known up to date, whichever panels are open. */
export function useFollowControl(): void {
  const path = useStore(controlledPath);
  const executionId = useStore((state) => (state.host.readOnly || runsElsewhere(state) ? null : (shownSummary(state)?.execution_id ?? null)));
  const live = useStore((state) => state.connection.type === 'live');

  // Before the next picture, so that nothing of another file is ever seen.
  useLayoutEffect(() => change({ path: null, controls: NO_CONTROLS }), [path]);
  useLayoutEffect(() => change({ view: null, chosen: null, following: null, aspect: 'held' }), [executionId]);

  useEffect(() => {
    if (path === null || !live) return undefined;
    let wanted = true;
    controlsOf(path).then(
      (controls) => {
        if (wanted) change({ path, controls });
      },
      (thrown: unknown) => {
        if (wanted) showProblem(problemOf(thrown));
      },
    );
    return () => {
      wanted = false;
    };
  }, [path, live]);

  useEffect(() => {
    if (executionId === null || !live) return undefined;
    const poll = new Poll({
      ask: () => heldOf(executionId),
      mark: () => markOf(executionId),
      show: (view) => take(executionId, view),
      // An execution that begins this moment may not be known yet; it is asked about again when something changes.
      fail: () => undefined,
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [executionId, live]);
}

/** Text, because text is equal when it says the same. */
function markOf(executionId: string): string | null {
  const state = useStore.getState();
  const summary = shownSummary(state);
  if (summary?.execution_id !== executionId) return null;
  const { mocks } = state.control.controls;
  return `${state.heldChanges} ${summary.phase} ${mocks.length === 0 ? '' : JSON.stringify(mocks.map(({ node_id, key }) => [node_id, key]))}`;
}

/** What the host says is held now. */
function take(executionId: string, told: ControlView): void {
  const view = { ...told, held: inOrder(told.held) };
  const before = useStore.getState();
  if (shownSummary(before)?.execution_id !== executionId) return;
  const first = view.held_total > 0 && (before.control.view?.held_total ?? 0) === 0;
  const followed = before.control.following ? followedBy(before.control.following, view.held) : null;
  change({ view, ...(followed ? { chosen: followed.message_id, following: null, aspect: 'held' as const } : {}) });
  if (followed) selectNode(followed.node_id);
  else if (first) pointOut(view);
}

/** As they were held, node by node; the items of one node in their own order, because many of them come at once. */
export function inOrder(held: readonly HeldMessage[]): HeldMessage[] {
  const nodes = [...new Set(held.map(({ node_id }) => node_id))];
  return held.toSorted((a, b) => nodes.indexOf(a.node_id) - nodes.indexOf(b.node_id) || a.key.localeCompare(b.key, 'en', { numeric: true }));
}

/** When something is held at last, it is in sight; a panel that was closed stays closed. */
function pointOut({ held: [first] }: ControlView): void {
  const { preferences, selectedNode, past } = useStore.getState();
  if (past !== null || !first) return;
  if (preferences.panels.bottom.shown) showBottom('held');
  if (selectedNode === null) selectNode(first.node_id);
}

/** What follows from a step: held anew, and inside of the message that went, or around it. */
export function followedBy({ key, known }: Following, held: readonly HeldMessage[]): HeldMessage | null {
  return held.find((each) => !known.includes(each.message_id) && touches(each.key, key)) ?? null;
}

function touches(one: string, other: string): boolean {
  return one === other || one === '' || other === '' || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/** Sends a command about the shown execution; the answer says why it could not be followed. */
export async function command(wish: Command): Promise<Problem | null> {
  const executionId = runningHere(useStore.getState());
  return executionId === null ? null : commandOf(executionId, wish);
}

export async function commandOf(executionId: string, wish: Command): Promise<Problem | null> {
  try {
    take(executionId, await controlExecution(executionId, wish));
    return null;
  } catch (thrown) {
    return problemOf(thrown);
  }
}

/** The same, for buttons and keys: what could not be done is said. */
export function tell(wish: Command): void {
  void command(wish).then((problem) => {
    if (problem) showProblem(problem);
  });
}

export function tellOf(executionId: string, wish: Command): void {
  void commandOf(executionId, wish).then((problem) => {
    if (problem) showProblem(problem);
  });
}

export function step(message: HeldMessage, type: 'step' | 'step_over' | 'to_barrier'): void {
  const known = heldNow(useStore.getState()).map(({ message_id }) => message_id);
  change({ following: { key: message.key, known } });
  tell({ type, message_id: message.message_id });
}

export async function editHeld(message: HeldMessage, edit: Edit): Promise<Problem | null> {
  return command({ type: 'edit', message_id: message.message_id, edit });
}

export function toggleBreakpoint(port: Port): void {
  void changeControls((controls) => cycled(controls, port)).then(complain);
}

export function addBreakpoint(breakpoint: Breakpoint): Promise<Problem | null> {
  return changeControls((controls) => ({ ...controls, breakpoints: [...controls.breakpoints, breakpoint] }));
}

export function changeBreakpoint(index: number, breakpoint: Breakpoint): Promise<Problem | null> {
  return changeControls((controls) => withBreakpoint(controls, index, breakpoint));
}

export function removeBreakpoint(index: number): void {
  void changeControls((controls) => withoutBreakpoint(controls, index)).then(complain);
}

export function removeAllBreakpoints(): void {
  void changeControls((controls) => ({ ...controls, breakpoints: [] })).then(complain);
}

/** `key` null is for every item. */
export function mock(nodeId: string, key: string | null, answer: MockAnswer): Promise<Problem | null> {
  return changeControls((controls) => withMock(controls, mockOf(nodeId, key, answer)));
}

export function unmock(nodeId: string, key: string | null): void {
  void changeControls((controls) => withoutMock(controls, { node_id: nodeId, key })).then(complain);
}

export function complain(problem: Problem | null): void {
  if (problem) showProblem(problem);
}

/** One wish after the other: each begins from what the one before has left. */
let queue: Promise<unknown> = Promise.resolve();

export function changeControls(wish: (controls: Controls) => Controls): Promise<Problem | null> {
  const path = controlledPath(useStore.getState());
  if (path === null) return Promise.resolve(null);
  const done = queue.then(() => keep(path, wish));
  queue = done;
  return done;
}

async function keep(path: string, wish: (controls: Controls) => Controls): Promise<Problem | null> {
  const { control } = useStore.getState();
  try {
    const before = control.path === path ? control.controls : await controlsOf(path);
    const after = wish(before);
    await keepControls(path, after);
    if (controlledPath(useStore.getState()) === path) change({ path, controls: after });
    // How often each was hit is told in the order of the new list.
    useStore.setState((state) => ({ heldChanges: state.heldChanges + 1 }));
    return null;
  } catch (thrown) {
    return problemOf(thrown);
  }
}

function change(part: Partial<ControlState>): void {
  useStore.setState((state) => ({ control: { ...state.control, ...part } }));
}
