import { useEffect, useState } from 'react';
import type { ExplanationView, Problem } from '../generated/protocol';
import { explanationOf } from '../state/actions';
import { Poll } from '../state/poll';
import { shownSummary, shownView } from '../state/selectors';
import { useStore } from '../state/store';

/** Finding reasons goes through the whole recording, so it is asked calmly. */
const PAUSE_MILLIS = 1_000;

export type Explained = { type: 'loading' } | { type: 'known'; explanation: ExplanationView } | { type: 'unknown'; problem: Problem };

/** Of a node, or of the execution where none is named. */
export function useExplanation(executionId: string, nodeId: string | null, key: string | null): Explained {
  const question = JSON.stringify([executionId, nodeId, key]);
  const [answer, setAnswer] = useState<{ question: string; explained: Explained } | null>(null);
  useEffect(() => {
    const show = (explained: Explained): void => setAnswer({ question, explained });
    const poll = new Poll({
      ask: () => explanationOf(executionId, nodeId, key),
      mark: () => {
        const view = shownView(useStore.getState());
        return view?.summary.execution_id === executionId ? view.position : null;
      },
      show: (explanation) => show({ type: 'known', explanation }),
      fail: (problem) => show({ type: 'unknown', problem }),
      pauseMillis: PAUSE_MILLIS,
      turn: () => shownSummary(useStore.getState())?.phase,
    });
    return poll.start();
  }, [executionId, nodeId, key, question]);
  return answer?.question === question ? answer.explained : { type: 'loading' };
}
