import { useEffect } from 'react';
import type { Theme } from '../state/preferences';
import { useStore } from '../state/store';

const DARK = '(prefers-color-scheme: dark)';
const CONTRAST = '(prefers-contrast: more)';

/** Written on the root element, so that plain CSS does the rest. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme === 'system' ? themeOfSystem() : theme;
}

function themeOfSystem(): Theme {
  if (window.matchMedia(CONTRAST).matches) return 'contrast';
  return window.matchMedia(DARK).matches ? 'dark' : 'light';
}

/** Sizes and motion follow from it by plain CSS, too. */
export function applyPresenter(presenter: boolean): void {
  document.documentElement.dataset.presenter = presenter ? 'on' : 'off';
}

export function useTheme(): void {
  const theme = useStore((state) => state.preferences.theme);
  useEffect(() => {
    const apply = (): void => applyTheme(theme);
    apply();
    const queries = [DARK, CONTRAST].map((query) => window.matchMedia(query));
    for (const query of queries) query.addEventListener('change', apply);
    return () => queries.forEach((query) => query.removeEventListener('change', apply));
  }, [theme]);
  const presenter = useStore((state) => state.preferences.presenter);
  useEffect(() => applyPresenter(presenter), [presenter]);
}
