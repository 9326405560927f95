import { useEffect } from 'react';
import type { Theme } from '../state/preferences';
import { useStore } from '../state/store';

const DARK = '(prefers-color-scheme: dark)';

/** Written on the root element, so that plain CSS does the rest. */
export function applyTheme(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && window.matchMedia(DARK).matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

export function useTheme(): void {
  const theme = useStore((state) => state.preferences.theme);
  useEffect(() => {
    const apply = (): void => applyTheme(theme);
    apply();
    const query = window.matchMedia(DARK);
    query.addEventListener('change', apply);
    return () => query.removeEventListener('change', apply);
  }, [theme]);
}
