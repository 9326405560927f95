import { useEffect } from 'react';
import { type CommandId, controlCommand } from '../state/controlCommands';
import { useStore } from '../state/store';

/** As in most debuggers. F5 to run and Shift+F5 to stop belong to the run controls. */
const KEYS: { [combination: string]: CommandId } = {
  F5: 'continue',
  F6: 'pause',
  F9: 'breakpoint',
  'Shift+F9': 'break-after',
  F10: 'step',
  F11: 'into',
  'Shift+F11': 'out',
  'Ctrl+F10': 'run-to',
  'Alt+F10': 'step-back',
  'Alt+F5': 'back-break',
  'Ctrl+Shift+F5': 'restart',
};

export function combinationOf({ key, ctrlKey, metaKey, shiftKey, altKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>): string {
  return [ctrlKey || metaKey ? 'Ctrl' : '', altKey ? 'Alt' : '', shiftKey ? 'Shift' : '', key].filter((part) => part !== '').join('+');
}

export function useControlKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const id = KEYS[combinationOf(event)];
      if (id === undefined) return;
      // The browser has its own plans for these keys, whether or not they do something here now.
      event.preventDefault();
      if (event.repeat || (event.target as HTMLElement).closest('dialog')) return;
      const command = controlCommand(useStore.getState(), id) ?? instead(id);
      command?.act();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** F9 at the node the keyboard is at, where none is selected. */
function instead(id: CommandId): { act: () => void } | null {
  const state = useStore.getState();
  if ((id !== 'breakpoint' && id !== 'break-after') || state.selectedNode !== null || state.focusedNode === null) return null;
  return controlCommand({ ...state, selectedNode: state.focusedNode }, id);
}
