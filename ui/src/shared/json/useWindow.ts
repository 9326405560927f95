import { type RefObject, useEffect, useState } from 'react';

const OVERSCAN = 8;

/** Which of many rows of one height are in sight of the scrolling element. */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  rows: number,
  rowHeight: number,
): { first: number; last: number } {
  const [sight, setSight] = useState({ top: 0, height: 600 });

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const look = (): void => setSight({ top: element.scrollTop, height: element.clientHeight || 600 });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(look);
    observer?.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer?.disconnect();
    };
  }, [scroller]);

  const first = Math.max(0, Math.floor(sight.top / rowHeight) - OVERSCAN);
  const last = Math.min(rows, Math.ceil((sight.top + sight.height) / rowHeight) + OVERSCAN);
  return { first, last };
}
