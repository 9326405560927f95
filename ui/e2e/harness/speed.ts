/** Large things to measure with. */
const node = (id: string, type: string, name: string, parameters: object = {}): object => ({ id, type, name, parameters });

/** F(n): a split, one node, an aggregator. */
export function fanOut(items: number): object {
  return {
    name: `F(${items})`,
    nodes: [
      node('start', 'trigger', 'Start'),
      node('each', 'split', 'Each', { input_array: `{{ Array.from({ length: ${items} }, (_, index) => index) }}` }),
      node('check', 'log', 'Check', { message: '$item' }),
      node('gather', 'aggregator', 'Gather'),
    ],
    edges: [
      { id: 'a', src: 'start', dst: 'each' },
      { id: 'b', src: 'each', dst: 'check' },
      { id: 'c', src: 'check', dst: 'gather' },
    ],
  };
}

const FRAME_MILLIS = 16;
const WIDTH = 20;

/** A recording in which `changes` nodes get another state in every frame. */
export function changingRecording(nodes: number, changes: number, frames: number): object {
  const ids = Array.from({ length: nodes }, (_, index) => `n${index}`);
  const edges = ids.slice(WIDTH).map((id, index) => ({ id: `e${index}`, src: `n${index}`, dst: id }));
  const summary = {
    execution_id: 'x1',
    workflow_id: 'changing',
    title: 'Changing',
    path: null,
    definition_hash: 'h',
    phase: 'running',
    started_at: 0,
    ended_at: null,
    error: null,
  };
  const definition = { name: 'Changing', nodes: ids.map((id) => node(id, 'log', `Node ${id}`)), edges };
  const patches = Array.from({ length: frames }, (_, frame) => {
    const changed = Array.from({ length: changes }, (__, at) => `n${(frame * changes + at) % nodes}`);
    const state = ['queued', 'running', 'success', 'failed'][frame % 4] ?? 'idle';
    return { at: frame * FRAME_MILLIS, patch: { execution_id: 'x1', position: frame + 1, summary, nodes: Object.fromEntries(changed.map((id) => [id, view(state, frame)])), edges: {} } };
  });
  return { format: 'runeglass-recording', version: 1, start: { summary, definition, position: 0, nodes: {}, edges: {} }, patches, details: {} };
}

function view(state: string, frame: number): object {
  const counts = { queued: 0, running: 0, waiting: 0, success: 1, failed: 0, skipped: 0 };
  return { state, counts, attempts: 1, started_at: 0, ended_at: null, busy_ms: frame, retrying: 0, due: null, progress: null, error: null };
}
