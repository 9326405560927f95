/** Everything that can be gone to or done, as one list. */
import { formatCount, formatMoment, shortId } from '../shared/format';
import { type IconName, kindIcon } from '../shared/icons';
import { PHASE_WORDS, shownPhase } from '../shared/phase';
import { titleOf } from '../shared/title';
import { cancel, detach, editorOf, openExecution, run } from '../state/actions';
import { controlCommands } from '../state/controlCommands';
import { controlledPath } from '../state/control';
import { placeOf, selectItem } from '../state/item';
import { compare, stopComparing } from '../state/compare';
import { canFork, itemToRerun, prepareForkHere, prepareRerun } from '../state/fork';
import { backToNow, travelTo } from '../state/past';
import { togglePlaying } from '../state/playback';
import type { BottomTab, Panel, Theme } from '../state/preferences';
import { recentOf } from '../state/recent';
import { canAttach, nodeById, runnable, runningExecution, runningHere, shownDefinition, shownEntry, shownSummary } from '../state/selectors';
import { type State, clearItem, openGallery, openWorkflow, selectNode, setPresenter, setScopesShown, setTheme, showAttach, showBottom, togglePanel } from '../state/store';

export interface Entry {
  id: string;
  kind: 'Command' | 'Workflow' | 'Execution' | 'Node' | 'Item' | 'Recent';
  icon: IconName;
  text: string;
  /** Looked through too, and shown dimmed. */
  extra?: string;
  keys?: string;
  act: () => void;
}

export function entriesOf(state: State, query: string, onHelp: () => void): Entry[] {
  return [...items(state, query), ...commands(state, onHelp), ...nodes(state), ...workflows(state), ...executions(state), ...recents(state), ...comparisons(state)];
}

/** A number names an item of the fan-out that is shown. */
function items(state: State, query: string): Entry[] {
  const index = /^(?:item\s*|#)?(\d{1,9})$/i.exec(query.trim())?.[1];
  const place = placeOf(state);
  if (index === undefined || !place || !shownSummary(state)) return [];
  const split = nodeById(shownDefinition(state), place.split);
  const go = (): void => {
    showBottom('items');
    selectItem(place, Number(index));
  };
  const text = `Item ${formatCount(Number(index))}`;
  return [{ id: 'item', kind: 'Item', icon: 'split', text, extra: `${query} of ${split ? titleOf(split) : place.split}`, act: go }];
}

const TABS: { tab: BottomTab; text: string }[] = [
  { tab: 'timeline', text: 'Show the timeline' },
  { tab: 'items', text: 'Show the items' },
];
const THEMES: { theme: Theme; icon: IconName; name: string }[] = [
  { theme: 'light', icon: 'sun', name: 'light' },
  { theme: 'dark', icon: 'moon', name: 'dark' },
  { theme: 'contrast', icon: 'contrast', name: 'high contrast' },
  { theme: 'system', icon: 'system', name: 'as the system' },
];
const PANELS: { panel: Panel; text: string; keys: string }[] = [
  { panel: 'left', text: 'Show or hide the library', keys: 'Ctrl+B' },
  { panel: 'bottom', text: 'Show or hide the bottom panel', keys: 'Ctrl+J' },
  { panel: 'right', text: 'Show or hide the inspector', keys: 'Ctrl+I' },
];

function commands(state: State, onHelp: () => void): Entry[] {
  const command = (id: string, icon: IconName, text: string, act: () => void, keys?: string): Entry => ({
    id,
    kind: 'Command',
    icon,
    text,
    act,
    ...(keys === undefined ? {} : { keys }),
  });
  const able = runnable(state);
  const running = runningExecution(state);
  const found: Entry[] = [];
  if (able.type === 'ready') found.push(command('run', 'play', `Run ${able.entry.title}`, () => void run(able.entry.path), 'F5'));
  if (running !== null) found.push(command('stop', 'stop', 'Stop this execution', () => void cancel(running), 'Shift+F5'));
  found.push(...controlCommands(state).map(({ id, icon, text, act, keys }) => command(`control-${id}`, icon, text, act, keys)));
  if (state.past) found.push(command('now', 'replay', 'Back to now', backToNow, 'End'));
  if (state.item) found.push(command('all', 'split', 'Let go of the item', clearItem, 'Esc'));
  if (state.item && itemToRerun(state) !== null) {
    found.push(command('rerun-item', 'replay', `Re-run item ${formatCount(state.item.index)} alone, on this machine…`, () => prepareRerun(null)));
  }
  if (shownSummary(state) || state.cluster) found.push(command('waits', 'bottom', 'Show what waits', () => showBottom('waits')));
  if (shownSummary(state)) {
    found.push(...TABS.map(({ tab, text }) => command(tab, 'bottom', text, () => showBottom(tab))));
    if (runningHere(state) !== null) found.push(command('held', 'bottom', 'Show what is held', () => showBottom('held')));
    found.push(command('play', state.playing ? 'pause' : 'play', state.playing ? 'Pause' : 'Play what happened', togglePlaying, 'Space'));
    found.push(command('first', 'previous', 'Go to the first event', () => travelTo({ type: 'position', data: 1 }), 'Home'));
  }
  if (controlledPath(state) !== null) found.push(command('breakpoints', 'bottom', 'Show breakpoints, pins and mocks', () => showBottom('breakpoints')));
  const [edit, path] = [editorOf(), shownEntry(state)?.path];
  if (edit && path !== undefined) found.push(command('edit', 'edit', 'Open the file in the editor', () => edit(path)));
  if (canFork(state)) found.push(command('fork', 'fork', 'Fork from this event…', prepareForkHere));
  if (state.compared) found.push(command('stop-comparing', 'compare', 'Stop comparing', stopComparing));
  const { scopesShown, theme, presenter } = state.preferences;
  found.push(command('scopes', 'fit', scopesShown ? 'Hide the areas of fan-outs' : 'Paint the areas of fan-outs', () => setScopesShown(!scopesShown), 'G'));
  found.push(...PANELS.map(({ panel, text, keys }) => command(panel, 'left', text, () => togglePanel(panel), keys)));
  for (const { theme: each, icon, name } of THEMES) {
    if (each !== theme) found.push(command(`theme-${each}`, icon, `Theme: ${name}`, () => setTheme(each)));
  }
  found.push(command('gallery', 'gallery', 'All stories', openGallery));
  found.push(command('presenter', 'present', presenter ? 'Leave presenter mode' : 'Presenter mode', () => setPresenter(!presenter)));
  if (canAttach(state) && !state.cluster) found.push(command('attach', 'eye', 'Attach to a live cluster…', () => showAttach(true)));
  if (state.cluster) {
    found.push(command('cluster', 'bottom', `Show the cluster ${state.cluster.connection.name}`, () => showBottom('cluster')));
    if (state.connection.type === 'live') found.push(command('detach', 'close', `Detach from ${state.cluster.connection.name}`, () => void detach()));
  }
  found.push(command('keys', 'help', 'Show all keys', onHelp, '?'));
  return found;
}

function nodes(state: State): Entry[] {
  return (shownDefinition(state)?.nodes ?? []).map((node) => ({
    id: `node ${node.id}`,
    kind: 'Node',
    icon: kindIcon(node.type),
    text: titleOf(node),
    extra: `${node.type} $${node.id}`,
    act: () => selectNode(node.id),
  }));
}

function workflows(state: State): Entry[] {
  return state.workflows.map((entry) => ({
    id: `workflow ${entry.path}`,
    kind: 'Workflow',
    icon: 'file',
    text: entry.title,
    extra: entry.path,
    act: () => openWorkflow(entry.path),
  }));
}

function executions(state: State): Entry[] {
  return state.executions.map((execution) => ({
    id: `execution ${execution.execution_id}`,
    kind: 'Execution',
    icon: 'play',
    text: `${execution.title} · ${PHASE_WORDS[shownPhase(execution, state.cluster)]}`,
    extra: `${formatMoment(execution.started_at)} ${shortId(execution.execution_id)}`,
    act: () => void openExecution(execution.execution_id),
  }));
}

/** What is not there any more is not offered where there is no room to say so. */
function recents(state: State): Entry[] {
  return recentOf(state)
    .filter(({ missing }) => !missing)
    .map(({ id, name, where, open }) => ({ id: `recent ${id}`, kind: 'Recent', icon: 'folder', text: `Open ${name}`, extra: where, act: open }));
}

const MOST_COMPARED = 30;

/** The open execution against every other one, those of its own file first. */
function comparisons(state: State): Entry[] {
  const mine = shownSummary(state);
  if (!mine || state.host.mode === 'replay') return [];
  const others = state.executions.filter((each) => each.execution_id !== mine.execution_id);
  const near = [...others.filter((each) => each.path === mine.path), ...others.filter((each) => each.path !== mine.path)];
  return near.slice(0, MOST_COMPARED).map((each) => ({
    id: `compare ${each.execution_id}`,
    kind: 'Command',
    icon: 'compare',
    text: `Compare with… ${each.title} · ${PHASE_WORDS[shownPhase(each, state.cluster)]}`,
    extra: `${formatMoment(each.started_at)} ${shortId(each.execution_id)}`,
    act: () => void compare(each.execution_id, mine.execution_id),
  }));
}
