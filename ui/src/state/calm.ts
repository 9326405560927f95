/** The store for what may lag behind a little: a map, a tally. Heard a few times a second, however much happens. */
import { useSyncExternalStore } from 'react';
import { shownSummary } from './selectors';
import { type State, useStore } from './store';

const PACE_MILLIS = 200;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | null = null;

function tell(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  for (const listener of listeners) listener();
}

useStore.subscribe((state, before) => {
  if (listeners.size === 0) return;
  // That it is over is told at once: whoever looks at two places sees the same in both.
  if (shownSummary(state)?.phase !== shownSummary(before)?.phase) tell();
  else timer ??= setTimeout(tell, PACE_MILLIS);
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** As `useStore`, a little later. The answer must be the same while its parts are. */
export function useCalmStore<T>(selector: (state: State) => T): T {
  return useSyncExternalStore(subscribe, () => selector(useStore.getState()));
}
