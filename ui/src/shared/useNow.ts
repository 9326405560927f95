import { useSyncExternalStore } from 'react';

/** One clock of one beat per second for everything that counts time on the page. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === null) {
    // The clock stood still while nobody looked.
    now = Date.now();
    timer = setInterval(beat, 1_000);
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

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
