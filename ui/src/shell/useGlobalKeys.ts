import { useEffect } from 'react';
import type { Panel } from '../state/preferences';
import { togglePanel } from '../state/store';

const PANEL_KEYS: { [key: string]: Panel } = { b: 'left', i: 'right', j: 'bottom' };

/** Keys that belong to the whole page; a webview must also never reload or open its own panels. */
export function useGlobalKeys(onHelp: () => void, onPalette: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const writing = target.closest('input, textarea, select') !== null;
      const command = (event.ctrlKey || event.metaKey) && !event.altKey;
      const panel = command && !event.shiftKey ? PANEL_KEYS[event.key.toLowerCase()] : undefined;
      if (isPalette(event, command, writing)) {
        event.preventDefault();
        onPalette();
      } else if (panel) {
        event.preventDefault();
        togglePanel(panel);
      } else if (isReload(event)) event.preventDefault();
      else if (event.key === '?' && !writing && !command) onHelp();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onHelp, onPalette]);
}

/** Ctrl+K as in most tools, Ctrl+Shift+P as in editors, and / as in most lists. */
function isPalette(event: KeyboardEvent, command: boolean, writing: boolean): boolean {
  const key = event.key.toLowerCase();
  if (command) return (key === 'k' && !event.shiftKey) || (key === 'p' && event.shiftKey);
  return key === '/' && !writing;
}

function isReload(event: KeyboardEvent): boolean {
  // Plain F5 and Shift+F5 have a meaning of their own and are prevented where they get it, or here where they have none.
  return (
    event.key === 'F7' || event.key === 'F12' || event.key === 'F5' || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'r')
  );
}
