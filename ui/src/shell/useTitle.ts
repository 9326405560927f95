import { useEffect } from 'react';
import { shownTitle } from '../state/selectors';
import { type State, useStore } from '../state/store';

export function pageTitle(state: State): string {
  const title = shownTitle(state);
  if (state.host.mode === 'replay') return `REPLAY (${title}) · Runeglass`;
  return title === '' ? 'Runeglass' : `${title} · Runeglass`;
}

/** Tells several tabs apart. */
export function useTitle(): void {
  const title = useStore(pageTitle);
  useEffect(() => {
    document.title = title;
  }, [title]);
}
