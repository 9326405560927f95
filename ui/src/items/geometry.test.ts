import { describe, expect, it } from 'vitest';
import { cellAfterKey, cellAt, geometryOf, scrollTo } from './geometry';

describe('geometryOf', () => {
  it.each([
    ['few cells are large', 12, 700, 120, { size: 22, columns: 31, rows: 1 }],
    ['a thousand are smaller, and all in sight', 1_000, 700, 120, { size: 9, columns: 77, rows: 13 }],
    ['a hundred thousand can still be told apart, and scroll', 100_000, 700, 120, { size: 9, columns: 77, rows: 1_299 }],
  ])('%s', (_, count, width, height, expected) => expect(geometryOf(count, width, height, null)).toEqual(expected));

  it('does as one wishes', () => {
    expect(geometryOf(100, 700, 120, 5).size).toBe(5);
  });
});

describe('a cell', () => {
  const geometry = { size: 10, columns: 7, rows: 3 };

  it.each([
    [0, 0, 0],
    [69, 0, 6],
    [70, 0, null],
    [5, 25, 14],
    [65, 25, null],
  ])('at %i, %i is %s', (x, y, cell) => expect(cellAt(geometry, 18, x, y)).toBe(cell));

  it.each([
    ['ArrowRight', 3, 4],
    ['ArrowLeft', 0, 0],
    ['ArrowDown', 3, 10],
    ['ArrowDown', 15, 17],
    ['ArrowUp', 9, 2],
    ['End', 3, 17],
    ['Home', 9, 0],
    ['PageDown', 0, 7],
    ['x', 3, null],
  ])('%s leads from %i to %s', (key, from, to) => expect(cellAfterKey(key, from, 18, geometry, 20)).toBe(to));

  it('comes into sight with the least scrolling', () => {
    expect(scrollTo(0, geometry, 15, 20)).toBe(0);
    expect(scrollTo(14, geometry, 0, 20)).toBe(10);
    expect(scrollTo(8, geometry, 0, 20)).toBe(0);
  });
});
