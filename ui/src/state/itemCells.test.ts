import { describe, expect, it } from 'vitest';
import type { ItemGrid } from '../generated/protocol';
import { codeOfGroup, failureOf, groupOf } from '../shared/itemStates';
import { countsOf, emptyCells, samePlace, wantedItems, withChanges } from './itemCells';

const PLACE = { split: 's', parent: [] };

function grid(position: number, total: number | null, chunks: ItemGrid['chunks']): ItemGrid {
  return { execution_id: 'x1', place: PLACE, position, total, chunks, groups: [] };
}

const text = (codes: Uint8Array): string => String.fromCharCode(...codes);

describe('the cells of a fan-out', () => {
  it('are there when the split has fired, and change in place', () => {
    const before = withChanges(emptyCells(PLACE), grid(3, null, []));
    expect(before).toMatchObject({ total: null, position: 3 });
    const first = withChanges(before, grid(5, 6, [{ start: 0, states: 'qqqqqq' }]));
    const bytes = first.codes;
    const second = withChanges(first, grid(9, 6, [{ start: 1, states: 'sA' }, { start: 5, states: 'r' }]));
    expect(text(second.codes)).toBe('qsAqqr');
    expect(second.codes).toBe(bytes);
    expect(second.position).toBe(9);
  });

  it('are counted by state, and filtered by state or by group', () => {
    const { codes } = withChanges(emptyCells(PLACE), grid(1, 8, [{ start: 0, states: 'ssAArBtk' }]));
    expect(countsOf(codes)).toEqual({ success: 2, failed: 3, running: 1, retrying: 1, skipped: 1 });
    expect(wantedItems(codes, { type: 'all' })).toBeNull();
    expect([...(wantedItems(codes, { type: 'state', state: 'failed' }) ?? [])]).toEqual([2, 3, 5]);
    expect([...(wantedItems(codes, { type: 'group', code: codeOfGroup(1) }) ?? [])]).toEqual([5]);
  });

  it('name the group of a failure', () => {
    const groups = [{ node_id: 'n', code: 'SIMULATED_FAILURE' as const, message: 'no #', count: 1 }];
    expect(groupOf('B'.charCodeAt(0))).toBe(1);
    expect(groupOf('s'.charCodeAt(0))).toBeNull();
    expect(failureOf('A'.charCodeAt(0), groups)?.message).toBe('no #');
    expect(failureOf('C'.charCodeAt(0), groups)).toBeNull();
  });

  it('belong to one place', () => {
    expect(samePlace({ split: 'a', parent: [1, 2] }, { split: 'a', parent: [1, 2] })).toBe(true);
    expect(samePlace({ split: 'a', parent: [1, 2] }, { split: 'a', parent: [1] })).toBe(false);
  });

  it('of a hundred thousand items are filtered within a frame', () => {
    const codes = new Uint8Array(100_000).fill('s'.charCodeAt(0));
    codes[99_999] = codeOfGroup(0);
    const began = performance.now();
    expect(wantedItems(codes, { type: 'state', state: 'failed' })?.length).toBe(1);
    expect(performance.now() - began).toBeLessThan(100);
  });
});
