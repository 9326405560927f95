/** Everything that can be done to what runs, where and when it can be done: what cannot is absent from bars, keys and palette. */
import { problemOf } from '../bridge/bridge';
import type { HeldMessage, Node } from '../generated/protocol';
import type { IconName } from '../shared/icons';
import { opensLevel } from '../shared/kinds';
import { titleOf } from '../shared/title';
import { cancel, run, timelineOf } from './actions';
import { breakMoments, momentBefore } from './breakMoments';
import { commanded, controlledPath, selectedHeld, standsStill, step, tell, toggleBreakpoint } from './control';
import { nodeMarks } from './controlMarks';
import { backToNow, stepEvent, travelTo } from './past';
import { nodeById, runnable, runningExecution, shownDefinition, shownSummary } from './selectors';
import { type State, showProblem, useStore } from './store';

export type CommandId =
  | 'continue'
  | 'pause'
  | 'step'
  | 'into'
  | 'out'
  | 'run-to'
  | 'release'
  | 'duplicate'
  | 'drop'
  | 'breakpoint'
  | 'break-after'
  | 'pause-node'
  | 'resume-node'
  | 'run-until'
  | 'step-start'
  | 'restart'
  | 'step-back'
  | 'back-break'
  | 'next-timer';

export interface ControlCommand {
  id: CommandId;
  icon: IconName;
  text: string;
  /** For the eye, such as `Shift+F11`. */
  keys?: string;
  act: () => void;
}

/** In the order people look for them. */
export function controlCommands(state: State): ControlCommand[] {
  const held = selectedHeld(state);
  const node = nodeById(shownDefinition(state), state.selectedNode);
  return [
    ...flowCommands(state),
    ...(held ? heldCommands(state, held) : []),
    ...(node ? nodeCommands(state, node) : []),
    ...startCommands(state, node),
    ...backCommands(state),
  ];
}

export function controlCommand(state: State, id: CommandId): ControlCommand | null {
  return controlCommands(state).find((each) => each.id === id) ?? null;
}

/** Continue and pause. In a moment that is over, going on leads back to now. */
function flowCommands(state: State): ControlCommand[] {
  if (state.past !== null && runningExecution(state) !== null) {
    return [
      { id: 'continue', icon: 'resume', text: 'Back to now', keys: 'F5', act: backToNow },
      { id: 'step', icon: 'stepOver', text: 'One event on', keys: 'F10', act: () => stepEvent(1) },
    ];
  }
  if (commanded(state) === null) return [];
  const commands: ControlCommand[] = [];
  if (standsStill(state)) {
    commands.push({ id: 'continue', icon: 'resume', text: 'Continue', keys: 'F5', act: () => tell({ type: 'continue' }) });
  }
  if (state.control.view?.paused !== true) {
    commands.push({ id: 'pause', icon: 'pause', text: 'Pause', keys: 'F6', act: () => tell({ type: 'pause' }) });
  }
  return commands;
}

function heldCommands(state: State, held: HeldMessage): ControlCommand[] {
  const { message_id, key, gate } = held;
  const node = nodeById(shownDefinition(state), held.node_id);
  // A fan-out is one step, unless one goes into it.
  const fansOut = opensLevel(node?.type);
  const commands: ControlCommand[] = [
    { id: 'step', icon: 'stepOver', text: fansOut ? 'Step over the fan-out' : 'Step', keys: 'F10', act: () => step(held, fansOut ? 'step_over' : 'step') },
    { id: 'into', icon: 'stepInto', text: fansOut ? 'Step into the items' : 'Step into', keys: 'F11', act: () => step(held, 'step') },
  ];
  if (key !== '') {
    commands.push({ id: 'out', icon: 'stepOut', text: 'Run this item to its barrier', keys: 'Shift+F11', act: () => step(held, 'to_barrier') });
  }
  commands.push({ id: 'release', icon: 'next', text: 'Let only this message go on', act: () => tell({ type: 'release', message_id }) });
  if (gate === 'before') {
    commands.push({ id: 'duplicate', icon: 'copy', text: 'Deliver this message twice', act: () => tell({ type: 'duplicate', message_id }) });
  }
  commands.push({ id: 'drop', icon: 'trash', text: 'Drop this message', act: () => tell({ type: 'drop', message_id }) });
  return commands;
}

function nodeCommands(state: State, node: Node): ControlCommand[] {
  const title = titleOf(node);
  const marks = nodeMarks(state, node.id);
  const commands: ControlCommand[] = [];
  if (controlledPath(state) !== null) {
    const word = (mark: { state: 'set' | 'disabled' } | null): string =>
      mark === null ? 'Set a breakpoint' : mark.state === 'set' ? 'Disable the breakpoint' : 'Remove the breakpoint';
    commands.push({
      id: 'breakpoint',
      icon: 'breakpoint',
      text: `${word(marks.before)} before ${title}`,
      keys: 'F9',
      act: () => toggleBreakpoint({ type: 'before', nodeId: node.id }),
    });
    commands.push({
      id: 'break-after',
      icon: 'breakpoint',
      text: `${word(marks.after)} after ${title}`,
      keys: 'Shift+F9',
      act: () => toggleBreakpoint({ type: 'after', nodeId: node.id }),
    });
  }
  if (commanded(state) === null) return commands;
  commands.push({ id: 'run-to', icon: 'runTo', text: `Run to ${title}`, keys: 'Ctrl+F10', act: () => tell({ type: 'run_to', node_id: node.id }) });
  commands.push(
    marks.paused
      ? { id: 'resume-node', icon: 'resume', text: `Resume ${title}`, act: () => tell({ type: 'resume_node', node_id: node.id }) }
      : { id: 'pause-node', icon: 'pause', text: `Pause ${title} only`, act: () => tell({ type: 'pause_node', node_id: node.id }) },
  );
  return commands;
}

function startCommands(state: State, node: Node | null): ControlCommand[] {
  const able = runnable(state);
  if (able.type !== 'ready') return [];
  const { path } = able.entry;
  const commands: ControlCommand[] = [];
  const running = runningExecution(state);
  if (running !== null) {
    commands.push({ id: 'restart', icon: 'replay', text: 'Stop and run again', keys: 'Ctrl+Shift+F5', act: () => void cancel(running).then(() => run(path)) });
  }
  commands.push({ id: 'step-start', icon: 'stepStart', text: 'Step from the start', act: () => void run(path, undefined, { paused: true }) });
  if (node !== null && able.entry.definition?.nodes.some(({ id }) => id === node.id)) {
    commands.push({ id: 'run-until', icon: 'runUntil', text: `Run up to ${titleOf(node)}`, act: () => void run(path, undefined, { until: node.id }) });
  }
  return commands;
}

function backCommands(state: State): ControlCommand[] {
  if (state.host.readOnly || shownSummary(state) === null) return [];
  return [
    { id: 'step-back', icon: 'stepBack', text: 'One event back', keys: 'Alt+F10', act: () => stepEvent(-1) },
    ...(controlledPath(state) === null
      ? []
      : [{ id: 'back-break' as const, icon: 'backBreak' as const, text: 'Back to the previous breakpoint', keys: 'Alt+F5', act: () => void backToBreakpoint() }]),
    ...(commanded(state) === null
      ? []
      : [{ id: 'next-timer' as const, icon: 'wait' as const, text: 'Jump to the next timer', act: () => tell({ type: 'next_timer' }) }]),
  ];
}

/** Where no breakpoint was passed before, one arrives at the beginning. */
async function backToBreakpoint(): Promise<void> {
  const state = useStore.getState();
  const executionId = shownSummary(state)?.execution_id;
  if (executionId === undefined) return;
  try {
    const timeline = await timelineOf(executionId);
    const moments = breakMoments(timeline, state.control.controls.breakpoints, shownDefinition(state));
    const at = momentBefore(moments, useStore.getState().past?.at ?? timeline.latest_at);
    travelTo(at === null ? { type: 'position', data: 1 } : { type: 'moment', data: at });
  } catch (thrown) {
    showProblem(problemOf(thrown));
  }
}
