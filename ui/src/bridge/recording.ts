/**
 * Reads a recording from a file. The file may come from anywhere, so every part the page relies on is checked here once;
 * behind this door it is trusted.
 */
import type { EdgeView, FiringView, NodeState, NodeView, Problem, Recording } from '../generated/protocol';
import { ProblemError } from './bridge';

export const FORMAT = 'runeglass-recording';
export const VERSION = 1;
export const LARGEST_FILE_BYTES = 256 * 1024 * 1024;
const MOST_NODES = 10_000;
const MOST_EDGES = 50_000;

export async function readRecording(file: File): Promise<Recording> {
  if (file.size > LARGEST_FILE_BYTES) {
    throw refused(`${file.name} is larger than ${LARGEST_FILE_BYTES / 1024 / 1024} MB.`);
  }
  return parseRecording(await file.text(), file.name);
}

export function parseRecording(text: string, name: string): Recording {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refused(`${name} is not JSON.`);
  }
  try {
    checkRecording(parsed);
  } catch (thrown) {
    if (thrown instanceof WrongShape) throw refused(`${name} is not a recording: ${thrown.message}.`);
    throw thrown;
  }
  return completed(parsed as Recording);
}

/** What earlier hosts did not know about did not happen there. */
function completed(recording: Recording): Recording {
  for (const { nodes, edges } of [recording.start, ...recording.patches.map(({ patch }) => patch)]) {
    for (const node of Object.values<Partial<NodeView>>(nodes)) node.retrying ??= 0;
    for (const edge of Object.values<Partial<EdgeView>>(edges)) {
      edge.ignored ??= 0;
      edge.late ??= 0;
    }
  }
  for (const { firings } of Object.values(recording.details)) {
    for (const firing of firings as Partial<FiringView>[]) {
      firing.failures ??= [];
      firing.hint ??= null;
    }
  }
  return recording;
}

function refused(message: string): ProblemError {
  const problem: Problem = {
    code: 'invalid_request',
    message,
    hint: 'Open a file that was saved with “Save recording” or written by the `record` request.',
  };
  return new ProblemError(problem);
}

class WrongShape extends Error {}

type Check = (value: unknown, at: string) => void;
type Fields = { readonly [key: string]: Check };

/** A record and no list, so that the compiler misses a state that is added to the contract. */
const KNOWN_STATES: { [K in NodeState]: true } = {
  idle: true,
  queued: true,
  running: true,
  waiting_timer: true,
  waiting_barrier: true,
  success: true,
  failed: true,
  skipped: true,
};
const STATES = Object.keys(KNOWN_STATES);
const PHASES = ['running', 'completed', 'failed', 'halted'];

const text: Check = (value, at) => demand(typeof value === 'string', at, 'a text');
const count: Check = (value, at) => demand(Number.isSafeInteger(value) && Number(value) >= 0, at, 'a count');
const millis: Check = (value, at) => demand(Number.isFinite(value), at, 'a number');
const flag: Check = (value, at) => demand(typeof value === 'boolean', at, 'true or false');
const oneOf =
  (words: readonly string[]): Check =>
  (value, at) =>
    demand(words.includes(value as string), at, `one of ${words.join(', ')}`);
const nullable =
  (check: Check): Check =>
  (value, at) => {
    if (value !== null) check(value, at);
  };
const optional =
  (check: Check): Check =>
  (value, at) => {
    if (value !== undefined) check(value, at);
  };
const list =
  (check: Check, most = Number.MAX_SAFE_INTEGER): Check =>
  (value, at) => {
    demand(Array.isArray(value), at, 'a list');
    const items = value as unknown[];
    demand(items.length <= most, at, `at most ${most} long`);
    items.forEach((item, index) => check(item, `${at}[${index}]`));
  };
const object: Check = (value, at) =>
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), at, 'an object');
const map =
  (check: Check): Check =>
  (value, at) => {
    object(value, at);
    for (const [key, item] of Object.entries(value as object)) check(item, `${at}.${key}`);
  };
const shape =
  (fields: Fields): Check =>
  (value, at) => {
    object(value, at);
    const record = value as { [key: string]: unknown };
    for (const [key, check] of Object.entries(fields)) {
      check(Object.hasOwn(record, key) ? record[key] : undefined, at === '' ? key : `${at}.${key}`);
    }
  };

const error = shape({ message: text, code: text });
const counts = shape({ queued: count, running: count, waiting: count, success: count, failed: count, skipped: count });
const node = shape({
  state: oneOf(STATES),
  counts,
  attempts: count,
  started_at: nullable(millis),
  ended_at: nullable(millis),
  busy_ms: millis,
  retrying: optional(count),
  due: nullable(millis),
  progress: nullable(shape({ arrived: count, expected: count })),
  error: nullable(error),
});
const edge = shape({ messages: count, ignored: optional(count), late: optional(count), skipped: flag });
const summary = shape({
  execution_id: text,
  workflow_id: text,
  title: text,
  path: nullable(text),
  definition_hash: text,
  phase: oneOf(PHASES),
  started_at: millis,
  ended_at: nullable(millis),
  error: nullable(error),
});
const errorPolicy = shape({ type: oneOf(['halt', 'ignore', 'branch']), error_edge: optional(text) });
const credentials = shape({ ref: optional(text), name: optional(text), id: optional(text) });
const definition = shape({
  name: optional(text),
  description: optional(text),
  nodes: list(
    shape({
      id: text,
      name: optional(text),
      type: text,
      parameters: object,
      credentials: optional(credentials),
      error: optional(errorPolicy),
    }),
    MOST_NODES,
  ),
  edges: list(shape({ id: text, src: text, dst: text, label: optional(text) }), MOST_EDGES),
});
const payload: Check = (value, at) => {
  shape({ type: oneOf(['whole', 'cut']), data: shape({ bytes: count }) })(value, at);
  const { type, data } = value as { type: string; data: { text?: unknown } };
  if (type === 'cut') text(data.text, `${at}.data.text`);
};
const frame = shape({ split_node_id: text, branch_id: text, item_index: count, total_items: count });
const failedAttempt = shape({ attempt: count, at: millis, duration_ms: millis, error, tried_again_at: millis });
const firing = shape({
  message_id: text,
  key: text,
  lineage: list(frame),
  attempt: count,
  state: oneOf(STATES),
  started_at: nullable(millis),
  duration_ms: nullable(millis),
  parameters: nullable(payload),
  input: nullable(payload),
  output: nullable(payload),
  error: nullable(error),
  hint: optional(nullable(text)),
  failures: optional(list(failedAttempt)),
});
const patch = shape({ execution_id: text, position: count, summary, nodes: map(node), edges: map(edge) });

const checkRecordingShape = shape({
  start: shape({ summary, definition, position: count, nodes: map(node), edges: map(edge) }),
  patches: list(shape({ at: millis, patch })),
  details: map(shape({ execution_id: text, node_id: text, firings: list(firing), total: count })),
});

function checkRecording(value: unknown): void {
  object(value, 'the file');
  const { format, version } = value as { format?: unknown; version?: unknown };
  if (format !== FORMAT) throw new WrongShape(`its “format” is not “${FORMAT}”`);
  if (version !== VERSION) throw new WrongShape(`it is of version ${String(version)}, this page reads version ${VERSION}`);
  checkRecordingShape(value, '');
}

function demand(holds: boolean, at: string, wanted: string): void {
  if (!holds) throw new WrongShape(`“${at.slice(0, 120)}” should be ${wanted}`);
}
