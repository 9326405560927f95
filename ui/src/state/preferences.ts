/** What the user arranged, remembered on this machine. Losing it is harmless, so storage may fail. */
import { type Bookmarks, readBookmarks } from './bookmarks';
import { type TakenCase, readCases } from './cases';

export type Theme = 'system' | 'light' | 'dark' | 'contrast';
const THEMES: readonly Theme[] = ['system', 'light', 'dark', 'contrast'];
export type Panel = 'left' | 'right' | 'bottom';

/** What the panel at the bottom shows. */
export type BottomTab = 'timeline' | 'items' | 'waits' | 'held' | 'breakpoints' | 'problems' | 'compare' | 'cluster';
const BOTTOM_TABS: readonly BottomTab[] = ['timeline', 'items', 'waits', 'held', 'breakpoints', 'problems', 'compare', 'cluster'];

/** More of them nobody looks through. */
const MOST_INPUTS = 8;
const MOST_FILES = 50;

export interface PanelPreference {
  /** Null leaves it to the window. */
  size: number | null;
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
  bookmarks: Bookmarks;
  /** The inputs files were run with by hand, as text, the last one first. */
  inputs: { [path: string]: string[] };
  /** The file that was looked at last. */
  lastPath: string | null;
  /** Recordings that were dropped or chosen, and taken into the store. */
  cases: TakenCase[];
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
    left: { size: null, shown: true },
    right: { size: null, shown: true },
    bottom: { size: null, shown: true },
  },
  bookmarks: {},
  inputs: {},
  lastPath: null,
  cases: [],
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
  const { theme, panels, bottomTab, scopesShown, presenter, bookmarks, inputs, lastPath, cases } = stored as { [K in keyof Preferences]?: unknown };
  const given = (typeof panels === 'object' && panels !== null ? panels : {}) as { [key: string]: unknown };
  return {
    theme: THEMES.find((each) => each === theme) ?? 'system',
    bottomTab: BOTTOM_TABS.find((tab) => tab === bottomTab) ?? null,
    scopesShown: scopesShown === true,
    presenter: presenter === true,
    panels: {
      left: readPanel('left', given.left),
      right: readPanel('right', given.right),
      bottom: readPanel('bottom', given.bottom),
    },
    bookmarks: readBookmarks(bookmarks),
    inputs: readInputs(inputs),
    lastPath: typeof lastPath === 'string' ? lastPath : null,
    cases: readCases(cases),
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

/** The same input again moves to the front. */
export function withInput(inputs: Preferences['inputs'], path: string, text: string): Preferences['inputs'] {
  const texts = [text, ...(inputs[path] ?? []).filter((each) => each !== text)].slice(0, MOST_INPUTS);
  const rest = Object.entries(inputs).filter(([each]) => each !== path);
  return Object.fromEntries([...rest, [path, texts] as const].slice(-MOST_FILES));
}

function readInputs(stored: unknown): Preferences['inputs'] {
  if (typeof stored !== 'object' || stored === null) return {};
  const entries = Object.entries(stored).map(([path, texts]) => [path, readTexts(texts)] as const);
  return Object.fromEntries(entries.filter(([, texts]) => texts.length > 0).slice(-MOST_FILES));
}

function readTexts(stored: unknown): string[] {
  return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string').slice(0, MOST_INPUTS) : [];
}
