/** What the user arranged, remembered on this machine. Losing it is harmless, so storage may fail. */
export type Theme = 'system' | 'light' | 'dark';
export type Panel = 'left' | 'right' | 'bottom';

/** What the panel at the bottom shows. */
export type BottomTab = 'timeline' | 'items' | 'waits' | 'problems';
const BOTTOM_TABS: readonly BottomTab[] = ['timeline', 'items', 'waits', 'problems'];

export interface PanelPreference {
  size: number;
  shown: boolean;
}

export interface Preferences {
  theme: Theme;
  /** Null leaves the choice to the page. */
  bottomTab: BottomTab | null;
  /** Whether the areas of fan-outs are painted. */
  scopesShown: boolean;
  /** Large type, slow motion, values hidden. */
  presenter: boolean;
  panels: { [K in Panel]: PanelPreference };
}

export const PANEL_LIMITS: { [K in Panel]: { min: number; max: number } } = {
  left: { min: 200, max: 480 },
  right: { min: 260, max: 720 },
  bottom: { min: 96, max: 480 },
};

export const DEFAULT_PREFERENCES: Preferences = {
  theme: 'system',
  bottomTab: null,
  scopesShown: false,
  presenter: false,
  panels: {
    left: { size: 248, shown: true },
    right: { size: 328, shown: true },
    bottom: { size: 216, shown: true },
  },
};

const KEY = 'runeglass.preferences';

export function loadPreferences(storage: Pick<Storage, 'getItem'>): Preferences {
  try {
    return readPreferences(JSON.parse(storage.getItem(KEY) ?? 'null'));
  } catch {
    return DEFAULT_PREFERENCES;
  }
}

export function savePreferences(storage: Pick<Storage, 'setItem'>, preferences: Preferences): void {
  try {
    storage.setItem(KEY, JSON.stringify(preferences));
  } catch {
    // A full or forbidden storage only means that the next start looks like the first.
  }
}

export function clampPanel(panel: Panel, size: number): number {
  const { min, max } = PANEL_LIMITS[panel];
  return Math.round(Math.min(Math.max(size, min), max));
}

function readPreferences(stored: unknown): Preferences {
  if (typeof stored !== 'object' || stored === null) return DEFAULT_PREFERENCES;
  const { theme, panels, bottomTab, scopesShown, presenter } = stored as { [K in keyof Preferences]?: unknown };
  const given = (typeof panels === 'object' && panels !== null ? panels : {}) as { [key: string]: unknown };
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    bottomTab: BOTTOM_TABS.find((tab) => tab === bottomTab) ?? null,
    scopesShown: scopesShown === true,
    presenter: presenter === true,
    panels: {
      left: readPanel('left', given.left),
      right: readPanel('right', given.right),
      bottom: readPanel('bottom', given.bottom),
    },
  };
}

function readPanel(panel: Panel, stored: unknown): PanelPreference {
  const fallback = DEFAULT_PREFERENCES.panels[panel];
  if (typeof stored !== 'object' || stored === null) return fallback;
  const { size, shown } = stored as { size?: unknown; shown?: unknown };
  return {
    size: typeof size === 'number' && Number.isFinite(size) ? clampPanel(panel, size) : fallback.size,
    shown: typeof shown === 'boolean' ? shown : fallback.shown,
  };
}
