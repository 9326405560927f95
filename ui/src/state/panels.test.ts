import { describe, expect, it } from 'vitest';
import { panelSize, usualSize } from './panels';

describe('a panel', () => {
  it.each([
    ['left', { width: 1280, height: 800 }, 248],
    ['right', { width: 1280, height: 800 }, 328],
    ['bottom', { width: 1280, height: 800 }, 264],
    ['left', { width: 1920, height: 1080 }, 304],
    ['right', { width: 1920, height: 1080 }, 416],
    ['bottom', { width: 1920, height: 1080 }, 376],
    ['right', { width: 700, height: 500 }, 260],
    ['bottom', { width: 3840, height: 2160 }, 400],
  ] as const)('suits the window: %s of %j', (panel, room, size) => {
    expect(usualSize(panel, room)).toBe(size);
  });

  it('keeps the size it was given, whatever the window is', () => {
    expect(panelSize('left', { size: 210, shown: true }, { width: 1920, height: 1080 })).toBe(210);
  });
});
