import { type RefObject, useEffect, useRef } from 'react';

/** The line of what is open, however it was opened. It carries `data-shown`. */
const LINE = '[data-shown="true"]';

/** Brings that line into sight when another one is `wanted`, and keeps it there when the list gets another height. */
export function useInSight(wanted: string | null): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => reveal(list.current), [wanted]);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      // A reader who has scrolled away from it stays where they are.
      if (wasInSight(element, height)) reveal(element);
      height = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return list;
}

function reveal(list: HTMLElement | null): void {
  list?.querySelector(LINE)?.scrollIntoView?.({ block: 'nearest' });
}

function wasInSight(list: HTMLElement, height: number): boolean {
  const line = list.querySelector(LINE)?.getBoundingClientRect();
  const top = list.getBoundingClientRect().top;
  return line !== undefined && line.top >= top - 1 && line.bottom <= top + height + 1;
}
