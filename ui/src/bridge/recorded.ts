/** A recording replayed through the same interface: nothing can be changed, everything can be looked at. */
import type { ExecutionView, Problem, Recording, Request, Response, TimedPatch } from '../generated/protocol';
import { applyPatch } from '../state/patch';
import { own } from '../shared/record';
import { type Bridge, type Listener, ProblemError } from './bridge';

/** Waits of hours are of no interest; what is longer than this is shortened to it. */
export const LONGEST_GAP_MILLIS = 1_500;
/** Lets the reader see the start before things begin to move. */
export const LEAD_IN_MILLIS = 600;

export function recordedBridge(recording: Recording, title: string): Bridge {
  let view = recording.start;
  return {
    host: { mode: 'replay', title, readOnly: true },
    call: (request) => {
      const answer = answerFrom(recording, view, request);
      return 'problem' in answer
        ? Promise.reject(new ProblemError(answer.problem))
        : Promise.resolve(answer.response);
    },
    subscribe: (listener) => {
      view = recording.start;
      return play(recording.patches, listener, (patch) => {
        view = applyPatch(view, patch.patch);
      });
    },
  };
}

type Answer = { response: Response } | { problem: Problem };

function answerFrom(recording: Recording, view: ExecutionView, request: Request): Answer {
  switch (request.type) {
    case 'snapshot':
      return {
        response: {
          type: 'snapshot',
          data: { version: '', folder: '', runs_on: 'here', workflows: [], executions: [view.summary] },
        },
      };
    case 'execution':
      return request.execution_id === view.summary.execution_id
        ? { response: { type: 'execution', data: view } }
        : { problem: notRecorded(`the execution ${request.execution_id}`) };
    case 'node_detail':
      return detailFrom(recording, view, request.node_id);
    case 'executions':
      return { response: { type: 'executions', data: { executions: [view.summary], next: null } } };
    case 'find':
      return { problem: notRecorded('an index of words') };
    case 'items':
    case 'item':
      return { problem: notRecorded('the items of fan-outs') };
    case 'barrier':
      return { problem: notRecorded('what joins waited for') };
    case 'timeline':
    case 'view_at':
      return { problem: notRecorded('a timeline') };
    case 'waits':
      return { response: { type: 'waits', data: { timers: [], total: 0, queued: 0, working: true } } };
    case 'record':
      return { response: { type: 'recording', data: recording } };
    case 'controls':
      return { response: { type: 'controls', data: { breakpoints: [], mocks: [] } } };
    case 'cluster':
      return { response: { type: 'cluster', data: null } };
    case 'connections':
      return { response: { type: 'connections', data: [] } };
    case 'notes':
      return { response: { type: 'notes', data: [] } };
    case 'forks':
    case 'compare':
      return { problem: notRecorded('other executions') };
    case 'explain':
    case 'verify':
      return { problem: notRecorded('the events it was made from') };
    case 'run':
    case 'cancel':
    case 'set_controls':
    case 'held':
    case 'control':
    case 'fork_point':
    case 'fork_preview':
    case 'fork':
    case 'import':
    case 'add_note':
    case 'attach':
    case 'detach':
    case 'keep_observed':
    case 'test_connection':
    case 'save_connection':
    case 'forget_connection':
      return {
        problem: {
          code: 'read_only',
          message: 'A recording cannot be changed.',
          hint: 'Close the recording and run the workflow to get a new execution.',
        },
      };
  }
}

/** Details were written down at the end, so a node that has not finished yet in the replay keeps its secret. */
function detailFrom(recording: Recording, view: ExecutionView, nodeId: string): Answer {
  const detail = own(recording.details, nodeId);
  const state = own(view.nodes, nodeId)?.state ?? 'idle';
  const finished = state === 'success' || state === 'failed' || state === 'skipped';
  if (detail && finished) return { response: { type: 'node_detail', data: detail } };
  return {
    response: {
      type: 'node_detail',
      data: { execution_id: view.summary.execution_id, node_id: nodeId, firings: [], total: 0 },
    },
  };
}

function play(patches: TimedPatch[], listener: Listener, advance: (patch: TimedPatch) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let next = 0;

  const schedule = (): void => {
    const patch = patches[next];
    if (!patch) return;
    timer = setTimeout(() => {
      next += 1;
      advance(patch);
      listener.updates([{ type: 'execution', data: patch.patch }]);
      schedule();
    }, gapBefore(patches, next));
  };

  listener.connection({ type: 'live' });
  schedule();
  return () => {
    if (timer !== null) clearTimeout(timer);
  };
}

function gapBefore(patches: TimedPatch[], index: number): number {
  const patch = patches[index];
  const previous = patches[index - 1];
  if (!patch || !previous) return LEAD_IN_MILLIS;
  return Math.min(Math.max(patch.at - previous.at, 0), LONGEST_GAP_MILLIS);
}

function notRecorded(what: string): Problem {
  return {
    code: 'not_found',
    message: `The recording does not hold ${what}.`,
    hint: 'A recording holds the graph of one execution; look closer where it was made.',
  };
}
