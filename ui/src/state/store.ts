/** The one store. What is derived from it lives in selectors.ts, what talks to the host in actions.ts. */
import { create } from 'zustand';
import type { Connection, Host } from '../bridge/bridge';
import type {
  ClusterView,
  ComparisonView,
  ExecutionSummary,
  ExecutionView,
  FanOutPlace,
  ItemDetail,
  PastView,
  RecentFile,
  RunsOn,
  Problem,
  Workflow,
  WorkflowEntry,
} from '../generated/protocol';
import { type ControlState, NO_CONTROL } from './controlState';
import { type Bookmark, withBookmark, withoutBookmark } from './bookmarks';
import { type TakenCase, withCase, withoutCase } from './cases';
import { panelSize, roomNow } from './panels';
import {
  type BottomTab,
  DEFAULT_PREFERENCES,
  type Panel,
  type Preferences,
  type Theme,
  clampPanel,
  loadPreferences,
  savePreferences,
  withInput,
} from './preferences';

export type Open =
  | { type: 'nothing' }
  | { type: 'workflow'; path: string }
  /**
   * `view` is null until the host has answered. `meanwhile` is the graph that stays in sight until then, where it is most
   * likely the same: nothing should blink when a workflow is run.
   */
  | { type: 'execution'; executionId: string; view: ExecutionView | null; meanwhile?: Workflow | null };

/** An item of a fan-out whose way is shown in the graph. */
export interface SelectedItem {
  place: FanOutPlace;
  index: number;
  /** Null until the host has answered. */
  detail: ItemDetail | null;
}

/** Where a fork begins that is being prepared. */
export type ForkDraft = { executionId: string } & (
  | { from: 'event'; position: number }
  /** A node and everything behind it work again. */
  | { from: 'node'; nodeId: string }
  /** The failed items of a node work again. */
  | { from: 'failed'; nodeId: string }
  /** One item works again: from a node on, or all of its way where that is null. */
  | { from: 'item'; key: string; nodeId: string | null }
);

/** Two executions side by side; B is the one that is open. */
export interface Compared {
  a: string;
  b: string;
  /** Null until the host has answered. */
  answer: ComparisonView | null;
  /** The graph of both. */
  definition: Workflow | null;
  /** Which of the differences is looked at. */
  chosen: number | null;
}

/** Nodes that stand out in the graph for a reason. */
export interface Highlight {
  label: string;
  nodes: readonly string[];
}

export interface Toast {
  id: number;
  problem: Problem;
}

export interface State {
  host: Host;
  connection: Connection;
  /** True after the first snapshot. */
  ready: boolean;
  version: string;
  folder: string;
  /** Executions of a cluster are watched here, and run elsewhere. */
  runsOn: RunsOn;
  /** What runs here is gone when the window closes. */
  keepsNothing: boolean;
  /** The live cluster that is looked into; null where there is none. */
  cluster: ClusterView | null;
  /** How far the clocks of clusters that were looked into are ahead of ours, by name: what was recorded there goes by them. */
  clocks: { [cluster: string]: number };
  /** The dialog that attaches is open. */
  attaching: boolean;
  workflows: WorkflowEntry[];
  executions: ExecutionSummary[];
  /** Executions that the host keeps and has not listed. */
  unlisted: number;
  /** Files that the host had open before. */
  recent: RecentFile[];
  open: Open;
  selectedNode: string | null;
  /** The fan-out whose items are shown; null leaves the choice to the page. */
  place: FanOutPlace | null;
  item: SelectedItem | null;
  fork: ForkDraft | null;
  compared: Compared | null;
  highlight: Highlight | null;
  /** The moment the page shows; null for now. */
  past: PastView | null;
  /** What is looked for in the graph; null when nothing is. */
  search: string | null;
  /** What happened is being played. */
  playing: boolean;
  /** Of playing; 1 is as it was. */
  speed: number;
  /** The node the keyboard is at; the one tab stop of the graph. */
  focusedNode: string | null;
  /** A run was asked for and not answered yet. */
  starting: boolean;
  control: ControlState;
  /** How often the host has said that what is held has changed. */
  heldChanges: number;
  toasts: Toast[];
  preferences: Preferences;
}

const MOST_TOASTS = 4;
const SLOW_MOTION = 0.25;

export const INITIAL_STATE: State = {
  host: { mode: 'web', title: '', readOnly: false },
  connection: { type: 'connecting' },
  ready: false,
  version: '',
  folder: '',
  runsOn: 'here',
  keepsNothing: false,
  cluster: null,
  clocks: {},
  attaching: false,
  workflows: [],
  executions: [],
  unlisted: 0,
  recent: [],
  open: { type: 'nothing' },
  selectedNode: null,
  place: null,
  item: null,
  fork: null,
  compared: null,
  highlight: null,
  past: null,
  search: null,
  playing: false,
  speed: 1,
  focusedNode: null,
  starting: false,
  control: NO_CONTROL,
  heldChanges: 0,
  toasts: [],
  preferences: DEFAULT_PREFERENCES,
};

export const useStore = create<State>()(() => ({
  ...INITIAL_STATE,
  ...remembered(),
}));

function remembered(): Pick<State, 'preferences' | 'speed'> {
  const preferences = typeof localStorage === 'undefined' ? DEFAULT_PREFERENCES : loadPreferences(localStorage);
  return { preferences, speed: preferences.presenter ? SLOW_MOTION : 1 };
}

export function selectNode(selectedNode: string | null): void {
  useStore.setState(selectedNode === null ? { selectedNode } : { selectedNode, focusedNode: selectedNode });
}

export function setSearch(search: string | null): void {
  useStore.setState({ search });
}

export function showCluster(cluster: ClusterView | null): void {
  useStore.setState(({ clocks }) => ({ cluster, clocks: clocksAfter(clocks, cluster) }));
}

export function clocksAfter(clocks: State['clocks'], cluster: ClusterView | null): State['clocks'] {
  if (cluster === null || clocks[cluster.connection.name] === cluster.ahead) return clocks;
  return { ...clocks, [cluster.connection.name]: cluster.ahead };
}

export function showAttach(attaching: boolean): void {
  useStore.setState({ attaching });
}

export function focusNode(focusedNode: string | null): void {
  useStore.setState({ focusedNode });
}

/** The gallery, where one begins. */
export function openGallery(): void {
  useStore.setState({ open: { type: 'nothing' }, selectedNode: null, ...NO_ITEM });
}

export function openWorkflow(path: string): void {
  if (useStore.getState().preferences.lastPath !== path) changePreferences((preferences) => ({ ...preferences, lastPath: path }));
  useStore.setState((state) =>
    state.open.type === 'workflow' && state.open.path === path
      ? state
      : { open: { type: 'workflow', path }, selectedNode: null, ...NO_ITEM },
  );
}

/** Items and moments belong to one execution, and what is looked for to one graph. */
export const NO_ITEM: Pick<State, 'place' | 'item' | 'past' | 'playing' | 'search' | 'compared' | 'highlight'> = {
  place: null,
  item: null,
  compared: null,
  highlight: null,
  past: null,
  playing: false,
  search: null,
};

export function showPlace(place: FanOutPlace): void {
  useStore.setState({ place });
}

export function clearItem(): void {
  useStore.setState({ item: null });
}

let lastToast = 0;

export function showProblem(problem: Problem): void {
  lastToast += 1;
  const toast = { id: lastToast, problem };
  useStore.setState((state) => ({
    // The same complaint twice is one complaint.
    toasts: [...state.toasts.filter((other) => other.problem.message !== problem.message), toast].slice(-MOST_TOASTS),
  }));
}

export function dismissToast(id: number): void {
  useStore.setState((state) => ({ toasts: state.toasts.filter((toast) => toast.id !== id) }));
}

export function setTheme(theme: Theme): void {
  changePreferences((preferences) => ({ ...preferences, theme }));
}

export function setScopesShown(scopesShown: boolean): void {
  changePreferences((preferences) => ({ ...preferences, scopesShown }));
}

/** Large type needs the room of the panels beside the graph, and slow motion a slow speed. */
export function setPresenter(presenter: boolean): void {
  changePreferences((preferences) => {
    const { left, right } = preferences.panels;
    const panels = { ...preferences.panels, left: { ...left, shown: !presenter }, right: { ...right, shown: !presenter } };
    return { ...preferences, presenter, panels };
  });
  useStore.setState({ speed: presenter ? SLOW_MOTION : 1 });
}

export function setBookmark(executionId: string, mark: Bookmark): void {
  changePreferences((preferences) => ({ ...preferences, bookmarks: withBookmark(preferences.bookmarks, executionId, mark) }));
}

export function removeBookmark(executionId: string, position: number): void {
  changePreferences((preferences) => ({ ...preferences, bookmarks: withoutBookmark(preferences.bookmarks, executionId, position) }));
}

export function rememberInput(path: string, text: string): void {
  changePreferences((preferences) => ({ ...preferences, inputs: withInput(preferences.inputs, path, text) }));
}

export function rememberCase(taken: TakenCase): void {
  changePreferences((preferences) => ({ ...preferences, cases: withCase(preferences.cases, taken) }));
}

export function forgetCase(executionId: string): void {
  changePreferences((preferences) => ({ ...preferences, cases: withoutCase(preferences.cases, executionId) }));
}

export function showBottom(bottomTab: BottomTab): void {
  changePreferences((preferences) => ({
    ...preferences,
    bottomTab,
    panels: { ...preferences.panels, bottom: { ...preferences.panels.bottom, shown: true } },
  }));
}

export function resizePanel(panel: Panel, size: number): void {
  changePanel(panel, { size: clampPanel(panel, size) });
}

/** No smaller than this; whoever has made it larger keeps what they have. */
export function growPanel(panel: Panel, size: number): void {
  if (panelSize(panel, useStore.getState().preferences.panels[panel], roomNow()) < size) resizePanel(panel, size);
}

export function showPanel(panel: Panel, shown: boolean): void {
  changePanel(panel, { shown });
}

export function togglePanel(panel: Panel): void {
  showPanel(panel, !useStore.getState().preferences.panels[panel].shown);
}

function changePanel(panel: Panel, change: { size?: number; shown?: boolean }): void {
  changePreferences((preferences) => ({
    ...preferences,
    panels: { ...preferences.panels, [panel]: { ...preferences.panels[panel], ...change } },
  }));
}

function changePreferences(change: (preferences: Preferences) => Preferences): void {
  const preferences = change(useStore.getState().preferences);
  useStore.setState({ preferences });
  savePreferences(localStorage, preferences);
}
