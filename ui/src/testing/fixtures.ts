/** Small, valid pieces of the protocol for tests; each takes what matters and makes up the rest. */
import type {
  ClusterView,
  ControlView,
  Counts,
  Diagnostic,
  ExecutionSummary,
  ExecutionView,
  HeldAt,
  HeldMessage,
  NodeDetail,
  NodeState,
  NodeView,
  Recording,
  ViewPatch,
  Workflow,
  WorkflowEntry,
} from '../generated/protocol';

export const NO_COUNTS: Counts = { queued: 0, running: 0, waiting: 0, success: 0, failed: 0, skipped: 0 };

export function nodeView(state: NodeState, more: Partial<NodeView> = {}): NodeView {
  return {
    state,
    counts: NO_COUNTS,
    attempts: 1,
    started_at: null,
    ended_at: null,
    busy_ms: 0,
    retrying: 0,
    due: null,
    progress: null,
    error: null,
    ...more,
  };
}

export const WORKFLOW: Workflow = {
  workflow_id: 'hello',
  name: 'Hello',
  sample_input: { name: 'Ada' },
  nodes: [
    { id: 'start', type: 'trigger', name: 'Start', parameters: {} },
    { id: 'greet', type: 'edit', name: 'Greet', parameters: { text: 'Hello, {{ $trigger.name }}' } },
    { id: 'say', type: 'log', parameters: { message: '$greet.text' }, error: { type: 'branch', error_edge: 'oops' } },
    { id: 'sorry', type: 'log', name: 'Say sorry', parameters: {} },
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'greet' },
    { id: 'b', src: 'greet', dst: 'say', label: 'then' },
    { id: 'oops', src: 'say', dst: 'sorry' },
  ],
};

export function summary(more: Partial<ExecutionSummary> = {}): ExecutionSummary {
  return {
    execution_id: 'x1',
    workflow_id: 'hello',
    title: 'Hello',
    path: 'hello.json',
    definition_hash: 'h1',
    phase: 'running',
    started_at: 1_000,
    ended_at: null,
    error: null,
    ...more,
  };
}

export function view(more: Partial<ExecutionView> = {}): ExecutionView {
  return { summary: summary(), definition: WORKFLOW, position: 1, nodes: {}, edges: {}, ...more };
}

export function patch(position: number, more: Partial<ViewPatch> = {}): ViewPatch {
  return { execution_id: 'x1', position, summary: summary(), nodes: {}, edges: {}, ...more };
}

export function entry(more: Partial<WorkflowEntry> = {}): WorkflowEntry {
  return {
    path: 'hello.json',
    title: 'Hello',
    story: 'Greets whoever starts it.',
    definition: WORKFLOW,
    definition_hash: 'h1',
    diagnostics: [],
    ...more,
  };
}

export function diagnostic(more: Partial<Diagnostic> = {}): Diagnostic {
  return {
    code: 'UNKNOWN_REFERENCE',
    severity: 'error',
    node_id: 'greet',
    place: { line: 3, column: 7 },
    message: 'The reference $nowhere names nothing.',
    hint: 'Use the id of a node.',
    ...more,
  };
}

export function detail(nodeId: string, output: unknown): NodeDetail {
  return {
    execution_id: 'x1',
    node_id: nodeId,
    total: 1,
    firings: [
      {
        message_id: `m-${nodeId}`,
        key: '',
        lineage: [],
        attempt: 1,
        state: 'success',
        started_at: 1_000,
        duration_ms: 5,
        parameters: { type: 'whole', data: { json: { text: 'Hello, Ada' }, bytes: 20 } },
        input: { type: 'whole', data: { json: { $trigger: { name: 'Ada' } }, bytes: 30 } },
        output: { type: 'whole', data: { json: output, bytes: 10 } },
        error: null,
        hint: null,
        failures: [],
      },
    ],
  };
}

export function recording(): Recording {
  const done = summary({ phase: 'completed', ended_at: 100_000 });
  return {
    format: 'runeglass-recording',
    version: 1,
    start: view({ position: 0 }),
    patches: [
      { at: 1_000, patch: patch(1, { nodes: { start: nodeView('running') } }) },
      { at: 1_200, patch: patch(2, { nodes: { start: nodeView('success') }, edges: { a: { messages: 1, ignored: 0, late: 0, skipped: false } } }) },
      { at: 99_000, patch: patch(3, { summary: done }) },
    ],
    details: { start: detail('start', { name: 'Ada' }) },
  };
}

export function held(more: Partial<HeldMessage> = {}): HeldMessage {
  return {
    execution_id: 'x1',
    message_id: 'm1',
    node_id: 'greet',
    key: '',
    attempt: 1,
    gate: 'before',
    why: { type: 'breakpoint', index: 0 },
    since: 1_000,
    edited: false,
    parameters: { type: 'whole', data: { json: { text: 'Hello, Ada' }, bytes: 20 } },
    context: { type: 'whole', data: { json: { $trigger: { name: 'Ada' } }, bytes: 30 } },
    asks: null,
    output: null,
    error: null,
    ...more,
  };
}

export function controlView(messages: HeldMessage[] = [], more: Partial<ControlView> = {}): ControlView {
  const sides = new Map<string, HeldAt>();
  for (const { node_id, gate } of messages) {
    const before = sides.get(`${node_id} ${gate}`);
    sides.set(`${node_id} ${gate}`, { node_id, gate, count: (before?.count ?? 0) + 1 });
  }
  return { paused: false, paused_nodes: [], held: messages, held_total: messages.length, held_at: [...sides.values()], hits: [], log: [], stale: [], ...more };
}

export function cluster(more: Partial<ClusterView> = {}): ClusterView {
  return {
    connection: { name: 'production', colour: 'red', amqp: 'amqp://reader@host/%2f', redis: 'redis://host/', prefix: '', dialect: null },
    dialect: 'runeglass',
    since: 1_000,
    ended: null,
    ahead: 0,
    troubles: [],
    queues: [],
    queues_as_of: null,
    redis: null,
    redis_as_of: null,
    workers: [],
    findings: [],
    unlisted: {},
    heard: 1_234,
    dropped: 0,
    unread: 0,
    redelivered: 0,
    dead_letters: 0,
    gaps: [],
    passed_over: 0,
    unreadable: 0,
    forgotten: 0,
    recording: false,
    capabilities: ['Redis: GET, SCAN'],
    ...more,
  };
}
