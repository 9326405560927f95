import { describe, expect, it } from 'vitest';
import { DEFAULT_PREFERENCES, loadPreferences, savePreferences } from './preferences';

const stored = (text: string | null) => ({ getItem: () => text });

describe('preferences', () => {
  it.each([null, '', 'null', '[]', '{"panels": 3}', '{"theme": "pink"}', 'no json'])('start anew from %j', (text) => {
    expect(loadPreferences(stored(text))).toEqual(DEFAULT_PREFERENCES);
  });

  it('come back as they were saved', () => {
    const mine = {
      theme: 'dark' as const, bottomTab: 'items' as const, scopesShown: true, presenter: true, panels: { ...DEFAULT_PREFERENCES.panels, left: { size: 300, shown: false } },
      bookmarks: { x1: [{ position: 3, at: 30, note: 'here' }] },
      inputs: { 'hello.json': ['{}'] },
      lastPath: 'hello.json',
      cases: [{ name: 'case.runeglass', executionId: 'x1' }],
    };
    savePreferences(localStorage, mine);
    expect(loadPreferences(localStorage)).toEqual(mine);
  });

  it('keep sizes within their limits', () => {
    const text = '{"panels": {"left": {"size": 99999, "shown": true}}}';
    expect(loadPreferences(stored(text)).panels.left.size).toBe(480);
  });

  it('survive a storage that refuses', () => {
    const full = { setItem: () => { throw new Error('full'); } };
    expect(() => savePreferences(full, DEFAULT_PREFERENCES)).not.toThrow();
  });
});
