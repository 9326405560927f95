import { useEffect } from 'react';

interface Keys {
  start: () => void;
  stop: () => void;
  canStart: boolean;
  canStop: boolean;
}

/** Ctrl+Enter starts, F5 starts when nothing is running, Shift+F5 stops. */
export function useRunKeys({ start, stop, canStart, canStop }: Keys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.repeat) return;
      const inDialog = (event.target as HTMLElement).closest('dialog, [role="dialog"]') !== null;
      // Others keep the browser from reloading on F5 before us, so that it was prevented says nothing.
      if (event.key === 'F5' && !event.ctrlKey && !event.altKey) {
        event.preventDefault();
        if (event.shiftKey) {
          if (canStop) stop();
        } else if (canStart && !canStop && !inDialog) start();
      } else if (event.key === 'Enter' && !event.defaultPrevented && (event.ctrlKey || event.metaKey) && canStart && !inDialog) {
        event.preventDefault();
        start();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [start, stop, canStart, canStop]);
}
