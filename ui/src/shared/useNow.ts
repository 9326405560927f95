import { createContext, useContext, useSyncExternalStore } from 'react';

/** One clock of one beat per second for everything that counts time on the page. */
const BEAT_MILLIS = 1_000;
/** How far ahead of ours the clock is by which moments inside go: a cluster has its own. */
export const Ahead = createContext(0);
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) {
    // The clock stood still while nobody looked.
    now = Date.now();
    timer = setInterval(beat, BEAT_MILLIS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

function beat(): void {
  now = Date.now();
  listeners.forEach((listener) => listener());
}

/** While the clock stands, whoever draws before subscribing would see the time of the last beat, maybe hours ago. */
function read(): number {
  if (timer === null && Math.abs(Date.now() - now) >= BEAT_MILLIS) now = Date.now();
  return now;
}

/** For components that are nothing but the text that counts: whoever calls this is drawn again every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, read) + useContext(Ahead);
}
