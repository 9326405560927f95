import { type RefObject, useEffect, useRef } from 'react';

/** The line of what is open, however it was opened. It carries `data-shown`. */
const LINE = '[data-shown="true"]';

/** Brings that line into sight when another one is `wanted`, and keeps it there when the list or its lines get another height. */
export function useInSight(wanted: string | null): RefObject<HTMLUListElement | null> {
  const list = useRef<HTMLUListElement>(null);
  /** False after a reader has scrolled away from it: they stay where they are. */
  const followed = useRef(true);
  useEffect(() => {
    followed.current = true;
    reveal(list.current);
  }, [wanted]);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const scrolled = (): void => {
      followed.current = isInSight(element);
    };
    const observer = new ResizeObserver(() => {
      if (followed.current) reveal(element);
    });
    element.addEventListener('scroll', scrolled);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', scrolled);
      observer.disconnect();
    };
  }, []);
  return list;
}

function reveal(list: HTMLElement | null): void {
  list?.querySelector(LINE)?.scrollIntoView?.({ block: 'nearest' });
}

/** A part of it is enough: what moves under a reader's eye was not moved by them. */
function isInSight(list: HTMLElement): boolean {
  const line = list.querySelector(LINE)?.getBoundingClientRect();
  const { top, bottom } = list.getBoundingClientRect();
  return line !== undefined && line.bottom > top && line.top < bottom;
}
