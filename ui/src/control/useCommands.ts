/** The commands that are possible now, for components: drawn again when others are, and not with every event. */
import { useMemo } from 'react';
import { type CommandId, type ControlCommand, controlCommand, controlCommands } from '../state/controlCommands';
import { useStore } from '../state/store';

export function useCommands(wanted: readonly CommandId[]): ControlCommand[] {
  // Text, because text is equal when it says the same; what is done is looked up when it is done.
  const shown = useStore((state) =>
    JSON.stringify(
      controlCommands(state)
        .filter(({ id }) => wanted.includes(id))
        .map(({ id, icon, text, keys }) => ({ id, icon, text, ...(keys === undefined ? {} : { keys }) })),
    ),
  );
  return useMemo(
    () => (JSON.parse(shown) as Omit<ControlCommand, 'act'>[]).map((each) => ({ ...each, act: () => controlCommand(useStore.getState(), each.id)?.act() })),
    [shown],
  );
}

/** `Step (F10)` */
export function labelOf({ text, keys }: Pick<ControlCommand, 'text' | 'keys'>): string {
  return keys === undefined ? text : `${text} (${keys})`;
}
