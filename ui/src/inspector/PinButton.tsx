/** Keeps what a node has put out: from the next run on it answers with that, and does nothing else. */
import { type ReactElement, useLayoutEffect } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { opensLevel } from '../shared/kinds';
import { mockAt } from '../state/breakpoints';
import { complain, controlledPath, mock, unmock } from '../state/control';
import { useStore } from '../state/store';

interface Props {
  node: Node;
  firing: FiringView;
}

/** Absent where there is nothing to keep: no output, one that is not here as a whole, or a fan-out, whose items are no output. */
export function canPin(node: Node, firing: FiringView | null): firing is FiringView {
  return firing?.output?.type === 'whole' && !opensLevel(node.type) && controlledPath(useStore.getState()) !== null;
}

export function PinButtons({ node, firing }: Props): ReactElement {
  const pinned = useStore((state) => isPinned(mockAt(state.control.controls, node.id, firing.key)));
  const item = firing.key !== '';
  return (
    <>
      <IconButton
        icon="pin"
        label={pinned ? 'Unpin this output (P)' : item ? `Pin this output for ${firing.key} only (P)` : 'Pin this output (P)'}
        aria-pressed={pinned}
        className={pinned ? 'pin-set' : ''}
        data-testid="pin"
        onClick={() => togglePin(node, firing, false)}
      />
      {item && !pinned && (
        <IconButton icon="pinAll" label="Pin this output for every item (Shift+P)" data-testid="pin-all" onClick={() => togglePin(node, firing, true)} />
      )}
    </>
  );
}

/** P at whatever is shown of the node. */
export function usePinKey(node: Node, firing: FiringView | null): void {
  // With the button, not a moment after it: whoever sees it may press the key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'p' || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if ((event.target as HTMLElement).closest('input, textarea, select, dialog')) return;
      if (canPin(node, firing)) togglePin(node, firing, event.shiftKey);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [node, firing]);
}

/** A pin of this item, or of every one, goes; else one is set. */
export function togglePin(node: Node, firing: FiringView, everywhere: boolean): void {
  const known = mockAt(useStore.getState().control.controls, node.id, firing.key);
  if (isPinned(known)) unmock(node.id, known?.key ?? null);
  else if (firing.output?.type === 'whole') {
    const key = everywhere || firing.key === '' ? null : firing.key;
    void mock(node.id, key, { type: 'output', value: firing.output.data.json }).then(complain);
  }
}

function isPinned(found: ReturnType<typeof mockAt>): boolean {
  return found?.answer.type === 'output';
}
