/** What the user asks for, and what happens when the host answers. */
import { type Bridge, ask, problemOf } from '../bridge/bridge';
import { recordedBridge } from '../bridge/recorded';
import { readRecording } from '../bridge/recording';
import type {
  BarrierView,
  ClusterConnection,
  Command,
  ComparisonView,
  ConnectionStep,
  Controls,
  ControlView,
  ExecutionView,
  ExplanationView,
  FanOutPlace,
  ForkBranch,
  ForkPoint,
  ForkPreview,
  ForkWish,
  ItemDetail,
  ItemGrid,
  NodeDetail,
  Note,
  Passwords,
  PastView,
  Recording,
  RunOptions,
  Snapshot,
  Timeline,
  Update,
  ViewPatch,
  WaitBoard,
  When,
  Workflow,
} from '../generated/protocol';
import { applyPatches } from './patch';
import { isObserved, shownDefinition, shownEntry } from './selectors';
import { INITIAL_STATE, NO_ITEM, type State, clocksAfter, growPanel, openGallery, rememberCase, showBottom, showCluster, showProblem, useStore } from './store';
import { clusterAfter, clusterUnheard, reduceUpdates, withOpened } from './updates';

const FRESH_RETRIES = 10;
const FRESH_PAUSE_MILLIS = 100;
const CLUSTER_HEIGHT = 336;

interface Session {
  bridge: Bridge;
  stop: () => void;
  /** Updates that arrived while a snapshot was under way; they are applied after it, in order. */
  held: Update[] | null;
  /** Patches that arrived while the open view was under way. */
  waiting: ViewPatch[];
  /** Updates of this frame after the first ones; null when the next may be applied at once. */
  later: Update[] | null;
  /** Tells a late answer that the user has opened something else meanwhile. */
  fetch: number;
}

let session: Session | null = null;
/** The live host to come back to when a recording is closed. */
let home: Bridge | null = null;

export function connect(bridge: Bridge): void {
  session?.stop();
  if (!bridge.host.readOnly) home = bridge;
  const mine: Session = { bridge, stop: () => undefined, held: null, waiting: [], later: null, fetch: 0 };
  session = mine;
  const { preferences, toasts, speed, recent } = useStore.getState();
  useStore.setState({ ...INITIAL_STATE, host: bridge.host, preferences, toasts, speed, recent });
  mine.stop = bridge.subscribe({
    updates: (updates) => {
      if (session === mine) receive(mine, updates);
    },
    connection: (connection) => {
      if (session !== mine) return;
      useStore.setState(({ cluster }) => ({ connection, cluster: 'problem' in connection ? clusterUnheard(cluster, connection.problem, Date.now()) : cluster }));
      if (connection.type === 'live') void refresh(mine);
    },
  });
}

/** After the first connection and after every lost one: the snapshot says what was missed. */
async function refresh(mine: Session): Promise<void> {
  mine.held ??= [];
  try {
    const snapshot = await ask(mine.bridge, { type: 'snapshot' });
    if (session !== mine) return;
    useStore.setState((state) => ({ ...fromSnapshot(snapshot), open: stillOpen(state, snapshot) }));
  } catch (thrown) {
    if (session === mine) showProblem(problemOf(thrown));
  } finally {
    release(mine);
  }
  const { open } = useStore.getState();
  if (session === mine && open.type === 'execution') await fetchView(mine, open.executionId);
  if (session === mine) await fetchCluster(mine);
}

/** A page that is loaded again finds the cluster it was looking into. */
async function fetchCluster(mine: Session): Promise<void> {
  try {
    const cluster = await ask(mine.bridge, { type: 'cluster' });
    if (session === mine) showCluster(cluster);
  } catch (thrown) {
    if (session === mine) showProblem(problemOf(thrown));
  }
}

function release(mine: Session): void {
  const held = mine.held ?? [];
  mine.held = null;
  if (session === mine && held.length > 0) receive(mine, held);
}

function fromSnapshot(snapshot: Snapshot): Partial<State> {
  const { version, folder, runs_on: runsOn, keeps_nothing: keepsNothing = false, workflows, executions, unlisted = 0 } = snapshot;
  return { ready: true, version, folder, runsOn, keepsNothing, workflows, executions, unlisted };
}

/** Keeps what was open, or comes back to what was open last time; a first visit starts in the gallery. */
function stillOpen(state: State, snapshot: Snapshot): State['open'] {
  // Who is in the gallery when a lost connection comes back stays there.
  if (state.open.type !== 'nothing' || state.ready) return state.open;
  const { lastPath } = state.preferences;
  const [execution] = snapshot.executions;
  if (execution && snapshot.workflows.some(({ path }) => path === lastPath)) return { type: 'workflow', path: lastPath ?? '' };
  if (snapshot.workflows.length > 0) return state.open;
  return execution ? { type: 'execution', executionId: execution.execution_id, view: null } : state.open;
}

function receive(mine: Session, updates: Update[]): void {
  if (mine.held) {
    mine.held.push(...updates);
    return;
  }
  // Nobody sees more than one change per frame, so no more than one is worked on.
  if (mine.later !== null && !document.hidden) {
    mine.later.push(...updates);
    return;
  }
  const before = mine.later ?? [];
  mine.later = [];
  requestAnimationFrame(() => nextFrame(mine));
  apply(mine, [...before, ...updates]);
}

function nextFrame(mine: Session): void {
  const later = mine.later ?? [];
  mine.later = null;
  if (session === mine && later.length > 0) receive(mine, later);
}

function apply(mine: Session, updates: Update[]): void {
  const before = useStore.getState();
  const { state, troubles, waiting } = reduceUpdates(before, updates);
  const cluster = clusterAfter(before.cluster, updates);
  mine.waiting.push(...waiting);
  useStore.setState({ ...state, cluster, clocks: clocksAfter(before.clocks, cluster) });
  troubles.forEach(showProblem);
  // What was seen there and not kept has gone with it.
  if (before.cluster && !cluster) void refresh(mine);
}

/** `fresh`: it was started this moment from what is shown. */
export async function openExecution(executionId: string, fresh = false): Promise<void> {
  if (!session) return;
  const { open } = useStore.getState();
  if (open.type === 'execution' && open.executionId === executionId) return;
  session.waiting = [];
  useStore.setState((state) => {
    const same = fresh || samePath(state, executionId);
    return {
      open: { type: 'execution', executionId, view: null, meanwhile: same ? shownDefinition(state) : null },
      selectedNode: same ? state.selectedNode : null,
      ...NO_ITEM,
    };
  });
  await fetchView(session, executionId, fresh ? FRESH_RETRIES : 0);
}

/** Going from a workflow to its execution, or between two of them, keeps the node one looks at. */
function samePath(state: State, executionId: string): boolean {
  const path = state.executions.find((execution) => execution.execution_id === executionId)?.path ?? null;
  return path !== null && path === shownEntry(state)?.path;
}

/** A host may answer the start before the execution can be read, so `retries` allows for a few looks. */
async function fetchView(mine: Session, executionId: string, retries = 0): Promise<void> {
  mine.fetch += 1;
  const fetch = mine.fetch;
  const wanted = (): boolean => session === mine && mine.fetch === fetch;
  try {
    const view = await ask(mine.bridge, { type: 'execution', execution_id: executionId });
    if (wanted()) showView(mine, view);
  } catch (thrown) {
    const problem = problemOf(thrown);
    if (retries > 0 && problem.code === 'not_found') {
      await new Promise((resolve) => setTimeout(resolve, FRESH_PAUSE_MILLIS));
      if (wanted()) await fetchView(mine, executionId, retries - 1);
    } else if (wanted() && problem.code === 'not_found' && isObserved(useStore.getState())) openGallery();
    else if (wanted()) showProblem(problem);
  }
}

function showView(mine: Session, fetched: ExecutionView): void {
  useStore.setState((state) => {
    if (state.open.type !== 'execution' || state.open.executionId !== fetched.summary.execution_id) return state;
    const ahead = state.open.view !== null && state.open.view.position > fetched.position;
    const view = ahead && state.open.view ? state.open.view : applyPatches(fetched, mine.waiting);
    mine.waiting = [];
    return { open: { ...state.open, view }, ...withOpened(state, view.summary) };
  });
}

/** Starts an execution and shows it. `input` undefined means the workflow's own sample. */
export async function run(path: string, input?: unknown, options?: RunOptions): Promise<void> {
  const mine = session;
  if (!mine || useStore.getState().starting) return;
  useStore.setState({ starting: true });
  try {
    const { execution_id } = await ask(mine.bridge, {
      type: 'run',
      path,
      ...(input === undefined ? {} : { input }),
      ...(options === undefined ? {} : { options }),
    });
    await openExecution(execution_id, true);
    // On a stage things happen slowly, also when they are over.
    if (useStore.getState().preferences.presenter) useStore.setState({ playing: true });
  } catch (thrown) {
    showProblem(problemOf(thrown));
  } finally {
    useStore.setState({ starting: false });
  }
}

export async function cancel(executionId: string): Promise<void> {
  if (!session) return;
  try {
    await ask(session.bridge, { type: 'cancel', execution_id: executionId });
  } catch (thrown) {
    showProblem(problemOf(thrown));
  }
}

/** `key` null means the latest firings, whatever their key. */
export async function nodeDetail(executionId: string, nodeId: string, key: string | null = null): Promise<NodeDetail> {
  return ask(host(), { type: 'node_detail', execution_id: executionId, node_id: nodeId, key, ...asItWas() });
}

/** Of another execution, whichever moment the page shows: its latest firing at that key. */
export async function latestDetail(executionId: string, nodeId: string, key: string): Promise<NodeDetail> {
  return ask(host(), { type: 'node_detail', execution_id: executionId, node_id: nodeId, key });
}

export async function itemGrid(executionId: string, place: FanOutPlace, since: number): Promise<ItemGrid> {
  const past = asItWas();
  // Of a moment in the past all is asked for: one may have come from later.
  return ask(host(), { type: 'items', execution_id: executionId, place, since: past.at === undefined ? since : 0, ...past });
}

export async function itemDetail(executionId: string, place: FanOutPlace, index: number): Promise<ItemDetail> {
  return ask(host(), { type: 'item', execution_id: executionId, place, index, ...asItWas() });
}

export async function barrierView(executionId: string, nodeId: string): Promise<BarrierView> {
  return ask(host(), { type: 'barrier', execution_id: executionId, node_id: nodeId, ...asItWas() });
}

export async function waitBoard(): Promise<WaitBoard> {
  return ask(host(), { type: 'waits' });
}

export async function timelineOf(executionId: string): Promise<Timeline> {
  return ask(host(), { type: 'timeline', execution_id: executionId });
}

export async function viewAt(executionId: string, when: When): Promise<PastView> {
  return ask(host(), { type: 'view_at', execution_id: executionId, when });
}

export async function controlsOf(path: string): Promise<Controls> {
  return ask(host(), { type: 'controls', path });
}

export async function keepControls(path: string, controls: Controls): Promise<void> {
  await ask(host(), { type: 'set_controls', path, controls });
}

export async function heldOf(executionId: string): Promise<ControlView> {
  return ask(host(), { type: 'held', execution_id: executionId });
}

export async function controlExecution(executionId: string, command: Command): Promise<ControlView> {
  return ask(host(), { type: 'control', execution_id: executionId, command });
}

/** Why the execution, or a node of it at a key, is as it is. */
export async function explanationOf(executionId: string, nodeId: string | null, key: string | null): Promise<ExplanationView> {
  return ask(host(), { type: 'explain', execution_id: executionId, node_id: nodeId, key, ...asItWas() });
}

export async function forkPoint(executionId: string, position: number): Promise<ForkPoint> {
  return ask(host(), { type: 'fork_point', execution_id: executionId, position });
}

export async function forkPreview(executionId: string, wish: ForkWish): Promise<ForkPreview> {
  return ask(host(), { type: 'fork_preview', execution_id: executionId, wish });
}

/** Starts a fork on this machine and shows it. */
export async function startFork(executionId: string, wish: ForkWish): Promise<void> {
  const { execution_id } = await ask(host(), { type: 'fork', execution_id: executionId, wish });
  await openExecution(execution_id, true);
}

export async function forksOf(executionId: string): Promise<ForkBranch[]> {
  return ask(host(), { type: 'forks', execution_id: executionId });
}

export async function comparisonOf(a: string, b: string): Promise<ComparisonView> {
  return ask(host(), { type: 'compare', a, b });
}

export async function definitionOf(executionId: string): Promise<Workflow> {
  return (await ask(host(), { type: 'execution', execution_id: executionId })).definition;
}

/** What people have left at a recording; it goes along when the recording is exported. */
export async function notesOf(executionId: string): Promise<Note[]> {
  return ask(host(), { type: 'notes', execution_id: executionId });
}

export async function keepNote(executionId: string, position: number, text: string): Promise<void> {
  await ask(host(), { type: 'add_note', execution_id: executionId, position, text });
}

type Attaching = [connection: ClusterConnection, passwords: Passwords, record: boolean, wanted: () => boolean];

/** One after the other, so that whoever withdraws leaves nothing that somebody has attached to since. */
let attaching: Promise<unknown> = Promise.resolve();

/**
 * Looks into a cluster, and says whether that was still wanted when it was let in. What is wrong with it is said where it
 * was asked for, so it is thrown.
 */
export function attachTo(...wish: Attaching): Promise<boolean> {
  const attached = attaching.then(() => attachOnce(...wish));
  attaching = attached.catch(() => undefined);
  return attached;
}

async function attachOnce(...[connection, passwords, record, wanted]: Attaching): Promise<boolean> {
  if (!wanted()) return false;
  const cluster = await ask(host(), { type: 'attach', connection, passwords, record });
  if (!wanted()) {
    await detach();
    return false;
  }
  showCluster(cluster);
  showBottom('cluster');
  // Its tables need more room than a timeline.
  growPanel('bottom', CLUSTER_HEIGHT);
  return true;
}

export async function detach(): Promise<void> {
  await orComplain(() => ask(host(), { type: 'detach' }));
}

export async function keepObserved(on: boolean): Promise<void> {
  const cluster = await orComplain(() => ask(host(), { type: 'keep_observed', on }));
  if (cluster) showCluster(cluster);
}

export async function testConnection(connection: ClusterConnection, passwords: Passwords): Promise<ConnectionStep[]> {
  return ask(host(), { type: 'test_connection', connection, passwords });
}

export async function keptConnections(): Promise<ClusterConnection[]> {
  return (await orComplain(() => ask(host(), { type: 'connections' }))) ?? [];
}

export async function keepConnection(connection: ClusterConnection, passwords: Passwords): Promise<void> {
  await orComplain(() => ask(host(), { type: 'save_connection', connection, passwords }));
}

export async function forgetConnection(name: string): Promise<void> {
  await orComplain(() => ask(host(), { type: 'forget_connection', name }));
}

async function orComplain<T>(wish: () => Promise<T>): Promise<T | null> {
  try {
    return await wish();
  } catch (thrown) {
    showProblem(problemOf(thrown));
    return null;
  }
}

/** The moment the page shows; nothing when that is now. */
function asItWas(): { at?: number } {
  const { past } = useStore.getState();
  return past ? { at: past.view.position } : {};
}

function host(): Bridge {
  if (!session) throw new Error('There is no host to ask.');
  return session.bridge;
}

export async function fetchRecording(executionId: string): Promise<Recording | null> {
  if (!session) return null;
  try {
    return await ask(session.bridge, { type: 'record', execution_id: executionId });
  } catch (thrown) {
    showProblem(problemOf(thrown));
    return null;
  }
}

/** A file that cannot be read leaves everything as it was. */
export async function openRecording(file: File): Promise<void> {
  try {
    if (await isCase(file)) {
      await importCase(file);
      return;
    }
    const recording = await readRecording(file);
    connect(recordedBridge(recording, recording.start.summary.title));
  } catch (thrown) {
    showProblem(problemOf(thrown));
  }
}

/** What every file of SQLite begins with. */
const CASE_BEGINS = 'SQLite format 3';

/** One execution with everything in it. Told by what is in it: a name says nothing. */
async function isCase(file: File): Promise<boolean> {
  return (await file.slice(0, CASE_BEGINS.length).text()) === CASE_BEGINS;
}

/** The live host, whatever is shown at the moment. */
export function homeBridge(): Bridge | null {
  return home;
}

/** An execution of the live host, also while a recording plays. */
export async function openAtHome(executionId: string): Promise<void> {
  if (home && session?.bridge !== home) connect(home);
  await openExecution(executionId);
}

/** Goes into the store of the host, also when it is dropped while a recording plays. */
async function importCase(file: File): Promise<void> {
  if (!home?.importFile) throw new Error('There is no store to take it into.');
  const executionId = await home.importFile(file);
  rememberCase({ name: file.name, executionId });
  await openAtHome(executionId);
}

/** Null where the host has no editor to open. */
export function editorOf(): ((path: string) => void) | null {
  const edit = session?.bridge.edit;
  return edit ? (path) => void edit(path).catch((thrown: unknown) => showProblem(problemOf(thrown))) : null;
}

/** The subscription is what plays, so subscribing again plays again. */
export function replayAgain(): void {
  if (session?.bridge.host.mode === 'replay') connect(session.bridge);
}

export function closeRecording(): void {
  if (home) connect(home);
}
