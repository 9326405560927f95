import { describe, expect, it } from 'vitest';
import { ITEM_STATES } from '../shared/itemStates';
import { inkAt } from './tiles';

/** A cell without its colour. */
function pattern(state: (typeof ITEM_STATES)[number], side: number): string {
  const cells = Array.from({ length: side * side }, (_, at) => (inkAt(state, at % side, Math.floor(at / side), side) === 'colour' ? '#' : '.'));
  return cells.join('');
}

describe('the patterns of cells', () => {
  it.each([8, 10, 14, 20])('tell all states apart without colour at %i pixels', (side) => {
    expect(new Set(ITEM_STATES.map((state) => pattern(state, side))).size).toBe(ITEM_STATES.length);
  });
});
