/** While an execution runs, what is at work stays in sight. */
import { useEffect } from 'react';
import type { ExecutionView } from '../generated/protocol';
import { shownView } from '../state/selectors';
import { useStore } from '../state/store';

/** Calmer than the updates: the eye does not want to move with each of them. */
const PACE_MILLIS = 400;

export function useFollow(follow: (nodeIds: readonly string[]) => void): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const look = (): void => {
      timer = null;
      follow(atWork(shownView(useStore.getState())));
    };
    const unsubscribe = useStore.subscribe((state, before) => {
      if (timer === null && shownView(state) !== shownView(before)) timer = setTimeout(look, PACE_MILLIS);
    });
    return () => {
      unsubscribe();
      if (timer !== null) clearTimeout(timer);
    };
  }, [follow]);
}

/** The nodes that do something now; of a finished execution none. */
export function atWork(view: ExecutionView | null): string[] {
  if (view?.summary.phase !== 'running') return [];
  const nodes = Object.entries(view.nodes);
  const busy = nodes.filter(([, { state }]) => state === 'running' || state === 'queued' || state === 'waiting_timer');
  return busy.map(([id]) => id);
}
