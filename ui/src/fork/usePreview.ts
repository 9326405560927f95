import { useEffect, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { ForkPreview, ForkWish, Problem } from '../generated/protocol';
import { forkPreview } from '../state/actions';

/** While somebody writes, the host is asked when they pause. */
const PAUSE_MILLIS = 300;

export type Previewed = { type: 'waiting' } | { type: 'known'; preview: ForkPreview } | { type: 'unknown'; problem: Problem };

/** What a fork would do. It is found out without asking anybody outside. */
export function usePreview(executionId: string, wish: ForkWish, ready: boolean): Previewed {
  const question = JSON.stringify([executionId, wish]);
  const [answer, setAnswer] = useState<{ question: string; previewed: Previewed } | null>(null);
  useEffect(() => {
    if (!ready) return undefined;
    let wanted = true;
    const [id, asked] = JSON.parse(question) as [string, ForkWish];
    const show = (previewed: Previewed): void => {
      if (wanted) setAnswer({ question, previewed });
    };
    const ask = (): void => {
      forkPreview(id, asked).then(
        (preview) => show({ type: 'known', preview }),
        (thrown: unknown) => show({ type: 'unknown', problem: problemOf(thrown) }),
      );
    };
    const timer = setTimeout(ask, PAUSE_MILLIS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [question, ready]);
  return ready && answer?.question === question ? answer.previewed : { type: 'waiting' };
}
