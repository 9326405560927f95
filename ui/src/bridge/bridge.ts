/** The one interface between the page and whatever answers it: a window, a web host or a recorded file. */
import type {
  BarrierView,
  ClusterConnection,
  ClusterView,
  ComparisonView,
  ConnectionStep,
  Controls,
  ControlView,
  ExecutionPage,
  ExecutionView,
  ExplanationView,
  ForkBranch,
  ForkPoint,
  ForkPreview,
  Found,
  ItemDetail,
  ItemGrid,
  NodeDetail,
  Note,
  OpenedFile,
  PastView,
  Problem,
  RecentFile,
  Recording,
  Request,
  Response,
  Snapshot,
  Timeline,
  Update,
  VerifiedView,
  WaitBoard,
} from '../generated/protocol';

export type Mode = 'desktop' | 'web' | 'replay';

export interface Host {
  mode: Mode;
  /** Names a recording; empty for a live host. */
  title: string;
  /** Actions that cannot be done are absent, so the page asks before it shows them. */
  readOnly: boolean;
}

export type Connection =
  | { type: 'connecting' }
  | { type: 'live' }
  /** The host is away; the bridge keeps trying. */
  | { type: 'reconnecting'; problem: Problem }
  /** The host does not want to talk to us; trying again will not help. */
  | { type: 'refused'; problem: Problem };

export interface Listener {
  updates(updates: Update[]): void;
  connection(connection: Connection): void;
}

/** Files of this machine that the host can open by itself. */
export interface Files {
  /** The one the host was started with; null where there was none, and when it was asked for before. */
  asked(): Promise<OpenedFile | null>;
  /** What was open before, the last one first. */
  recent(): Promise<RecentFile[]>;
  reopen(path: string): Promise<OpenedFile>;
  forget(path: string): Promise<void>;
}

export interface Bridge {
  readonly host: Host;
  /** Absent where the host does not open files. */
  readonly files?: Files;
  /** Rejects with a `ProblemError`. */
  call(request: Request): Promise<Response>;
  /** Takes what is in a `.runeglass` file into the store, and tells the execution's id. Absent where there is no store. */
  importFile?(file: Blob): Promise<string>;
  /** Opens a workflow of the folder in the system's editor. Absent where there is no such thing. */
  edit?(path: string): Promise<void>;
  /** One listener per bridge; the answer ends the subscription. */
  subscribe(listener: Listener): () => void;
}

/** A problem on its way through promises. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = 'ProblemError';
    this.problem = problem;
  }
}

interface Payloads {
  snapshot: Snapshot;
  run: { execution_id: string };
  cancel: undefined;
  execution: ExecutionView;
  executions: ExecutionPage;
  find: Found;
  node_detail: NodeDetail;
  items: ItemGrid;
  item: ItemDetail;
  barrier: BarrierView;
  waits: WaitBoard;
  timeline: Timeline;
  view_at: PastView;
  record: Recording;
  controls: Controls;
  set_controls: undefined;
  held: ControlView;
  control: ControlView;
  fork_point: ForkPoint;
  fork_preview: ForkPreview;
  fork: { execution_id: string };
  forks: ForkBranch[];
  compare: ComparisonView;
  explain: ExplanationView;
  verify: VerifiedView;
  import: { execution_id: string };
  notes: Note[];
  add_note: undefined;
  attach: ClusterView | null;
  detach: undefined;
  cluster: ClusterView | null;
  keep_observed: ClusterView | null;
  test_connection: ConnectionStep[];
  connections: ClusterConnection[];
  save_connection: undefined;
  forget_connection: undefined;
}

const ANSWERS: { [K in Request['type']]: Response['type'] } = {
  snapshot: 'snapshot',
  run: 'started',
  cancel: 'done',
  execution: 'execution',
  executions: 'executions',
  find: 'found',
  node_detail: 'node_detail',
  items: 'items',
  item: 'item',
  barrier: 'barrier',
  waits: 'waits',
  timeline: 'timeline',
  view_at: 'past',
  record: 'recording',
  controls: 'controls',
  set_controls: 'done',
  held: 'control',
  control: 'control',
  fork_point: 'fork_point',
  fork_preview: 'fork_preview',
  fork: 'started',
  forks: 'forks',
  compare: 'comparison',
  explain: 'explanation',
  verify: 'verified',
  import: 'started',
  notes: 'notes',
  add_note: 'done',
  attach: 'cluster',
  detach: 'done',
  cluster: 'cluster',
  keep_observed: 'cluster',
  test_connection: 'connection_steps',
  connections: 'connections',
  save_connection: 'done',
  forget_connection: 'done',
};

/** Asks and takes the payload out of the answer that belongs to the request. */
export async function ask<K extends Request['type']>(
  bridge: Bridge,
  request: Extract<Request, { type: K }>,
): Promise<Payloads[K]> {
  const response = await bridge.call(request);
  if (response.type !== ANSWERS[request.type]) {
    throw new ProblemError({
      code: 'infrastructure',
      message: `The host answered “${request.type}” with “${response.type}”.`,
      hint: 'The page and the host may be of different versions: reload the page.',
    });
  }
  // The tag was just compared, and ANSWERS pairs every request with its payload.
  return ('data' in response ? response.data : undefined) as Payloads[K];
}

export function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string' &&
    'hint' in value &&
    typeof value.hint === 'string' &&
    'code' in value
  );
}

/** Whatever was thrown, in the words the user sees. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof ProblemError) return thrown.problem;
  if (isProblem(thrown)) return thrown;
  return {
    code: 'infrastructure',
    message: thrown instanceof Error ? thrown.message : String(thrown),
    hint: 'Try again; if it happens again, please report it with the steps that led here.',
  };
}
