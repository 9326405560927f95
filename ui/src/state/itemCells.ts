/** The states of all items of one fan-out, one byte each, kept up to date in place: a hundred thousand are not copied. */
import type { FailureGroup, FanOutPlace, ItemGrid } from '../generated/protocol';
import { stateOf } from '../shared/itemStates';
import type { ShownState } from '../shared/shownState';

export interface ItemCells {
  place: FanOutPlace;
  /** Null until the split has fired there. */
  total: number | null;
  codes: Uint8Array;
  position: number;
  groups: FailureGroup[];
}

export function emptyCells(place: FanOutPlace): ItemCells {
  return { place, total: null, codes: new Uint8Array(0), position: 0, groups: [] };
}

/** Puts in place what has changed. The answer shares the bytes with `cells`, which is not to be used any more. */
export function withChanges(cells: ItemCells, grid: ItemGrid): ItemCells {
  const total = grid.total ?? 0;
  const codes = cells.codes.length === total ? cells.codes : new Uint8Array(total).fill('q'.charCodeAt(0));
  for (const { start, states } of grid.chunks) {
    for (let at = 0; at < states.length; at += 1) codes[start + at] = states.charCodeAt(at);
  }
  return { place: cells.place, total: grid.total, codes, position: grid.position, groups: grid.groups };
}

export type ItemCounts = { [K in ShownState]?: number };

export function countsOf(codes: Uint8Array): ItemCounts {
  const byCode = new Uint32Array(256);
  for (const code of codes) byCode[code] = (byCode[code] ?? 0) + 1;
  const counts: ItemCounts = {};
  byCode.forEach((count, code) => {
    if (count > 0) counts[stateOf(code)] = (counts[stateOf(code)] ?? 0) + count;
  });
  return counts;
}

/** Which items are wanted: those of some state, or of one group of failures. */
export type ItemFilter = { type: 'all' } | { type: 'state'; state: ShownState } | { type: 'group'; code: number };

export function matches(filter: ItemFilter, code: number): boolean {
  switch (filter.type) {
    case 'all':
      return true;
    case 'state':
      return stateOf(code) === filter.state;
    case 'group':
      return code === filter.code;
  }
}

/** The indexes of the wanted items; null where all are. */
export function wantedItems(codes: Uint8Array, filter: ItemFilter): Uint32Array | null {
  if (filter.type === 'all') return null;
  const wanted = new Uint32Array(codes.length);
  let count = 0;
  codes.forEach((code, index) => {
    if (!matches(filter, code)) return;
    wanted[count] = index;
    count += 1;
  });
  return wanted.subarray(0, count);
}

export function samePlace(a: FanOutPlace, b: FanOutPlace): boolean {
  return a.split === b.split && a.parent.length === b.parent.length && a.parent.every((index, at) => index === b.parent[at]);
}
