import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import type { IconName } from '../shared/icons';
import type { Theme } from '../state/preferences';
import { setTheme, useStore } from '../state/store';

const NEXT: { [K in Theme]: Theme } = { system: 'light', light: 'dark', dark: 'contrast', contrast: 'system' };
const ICONS: { [K in Theme]: IconName } = { system: 'system', light: 'sun', dark: 'moon', contrast: 'contrast' };
const WORDS: { [K in Theme]: string } = { system: 'as the system', light: 'light', dark: 'dark', contrast: 'high contrast' };

export function ThemeToggle(): ReactElement {
  const theme = useStore((state) => state.preferences.theme);
  return (
    <IconButton
      icon={ICONS[theme]}
      label={`Theme: ${WORDS[theme]}`}
      data-testid="theme-toggle"
      data-theme-choice={theme}
      onClick={() => setTheme(NEXT[theme])}
    />
  );
}
