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
      if (event.defaultPrevented || event.repeat) return;
      const inDialog = (event.target as HTMLElement).closest('dialog, [role="dialog"]') !== null;
      if (event.key === 'F5' && !event.ctrlKey) {
        event.preventDefault();
        if (event.shiftKey) {
          if (canStop) stop();
        } else if (canStart && !canStop && !inDialog) start();
      } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && canStart && !inDialog) {
        event.preventDefault();
        start();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [start, stop, canStart, canStop]);
}
