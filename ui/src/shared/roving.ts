/** One tab stop per list: arrows, Home and End move inside it. */
import type { KeyboardEvent } from 'react';

export function indexAfterKey(key: string, index: number, length: number): number | null {
  if (length === 0) return null;
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, length - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    default:
      return null;
  }
}

/** For a list whose items carry `data-roving`: moves the focus, and leaves activating to the item itself. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-roving]')];
  const index = items.indexOf(document.activeElement as HTMLElement);
  if (index < 0) return;
  const next = indexAfterKey(event.key, index, items.length);
  if (next === null) return;
  event.preventDefault();
  items[next]?.focus();
}
