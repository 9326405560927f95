import { useEffect, useState } from 'react';
import type { NodeDetail, Problem } from '../generated/protocol';
import { nodeDetail } from '../state/actions';
import { Poll } from '../state/poll';
import { nodeViewOf, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';

/** A busy node changes sixty times a second; nobody reads that fast. */
export const THROTTLE_MILLIS = 250;

export type Detail =
  | { type: 'loading' }
  | { type: 'loaded'; detail: NodeDetail }
  | { type: 'failed'; problem: Problem };

interface Answer {
  question: string;
  detail: Detail;
}

/** The firings of a node, asked for again when the node's part of the view has changed. */
export function useNodeDetail(executionId: string, nodeId: string, key: string | null): Detail {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const question = JSON.stringify([executionId, nodeId, key]);

  useEffect(() => {
    const show = (detail: Detail): void => setAnswer({ question, detail });
    const poll = new Poll({
      ask: () => nodeDetail(executionId, nodeId, key),
      mark: () => markOf(executionId, nodeId),
      show: (detail) => show({ type: 'loaded', detail }),
      fail: (problem) => show({ type: 'failed', problem }),
      pauseMillis: THROTTLE_MILLIS,
    });
    return poll.start();
  }, [executionId, nodeId, key, question]);

  return answer?.question === question ? answer.detail : { type: 'loading' };
}

/** The store changes before the inspector is taken down, and the next host does not know this execution. */
function markOf(executionId: string, nodeId: string): unknown {
  const state = useStore.getState();
  return shownSummary(state)?.execution_id === executionId ? (nodeViewOf(state, nodeId) ?? 'nothing yet') : null;
}
