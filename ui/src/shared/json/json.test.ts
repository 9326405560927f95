import { describe, expect, it } from 'vitest';
import { expressionOf, pathOf, placeOf } from './path';
import { LONG_TEXT, groupOf, rowsOf } from './rows';
import { findMatches, placesAbove } from './search';

describe('expressionOf', () => {
  it.each([
    ['$fetch', ['body', 'users', 0], '$fetch.body.users[0]'],
    ['$fetch', [], '$fetch'],
    ['$fetch', ['content type'], '$fetch["content type"]'],
    ['$fetch', ['a"b'], '$fetch["a\\"b"]'],
    ['$fetch', ['1st'], '$fetch["1st"]'],
    ['', ['$trigger', 'name'], '$trigger.name'],
    ['', ['fetch', 2], '$fetch[2]'],
    ['', [], '$'],
  ])('%s and %j give %s', (base, steps, expression) => expect(expressionOf(base, steps)).toBe(expression));
});

describe('pathOf', () => {
  it('leads from the value itself', () => expect(pathOf(['body', 'users', 0, 'full name'])).toBe('$.body.users[0]["full name"]'));
});

describe('rowsOf', () => {
  const names = (value: unknown, open = new Map<string, boolean>()) => rowsOf(value, open).map((row) => row.name);

  it('opens two levels', () => {
    expect(names({ a: { b: { c: 1 } }, d: [1] })).toEqual([null, 'a', 'b', 'd', 0]);
  });

  it('opens and closes where the user wants', () => {
    const open = new Map([
      [placeOf(['a']), false],
      [placeOf(['d']), true],
    ]);
    expect(names({ a: { b: 1 }, d: [[2]] }, open)).toEqual([null, 'a', 'd', 0]);
  });

  it('previews what is closed', () => {
    const [row] = rowsOf({ a: 1, b: 2, c: 3, d: 4, e: 5 }, new Map([[placeOf([]), false]]));
    expect(row?.text).toBe('{ a, b, c, d, … }');
    expect(rowsOf([1, 2], new Map())[0]?.text).toBe('Array(2)');
    expect(rowsOf({}, new Map())[0]).toMatchObject({ text: '{}', openable: false });
  });

  it('folds a long text and tells its size', () => {
    const text = 'ü'.repeat(LONG_TEXT + 1);
    const [row] = rowsOf(text, new Map());
    expect(row).toMatchObject({ openable: true, open: false, note: '282 B' });
    const unfolded = rowsOf(text, new Map([[placeOf([]), true]]));
    expect(unfolded.slice(1).map((each) => each.text).join('')).toBe(text);
  });

  it('puts the children of a large value into groups, which open one by one', () => {
    const large = Array.from({ length: 2_500 }, (_, index) => index);
    expect(rowsOf(large, new Map()).map(({ text }) => text)).toEqual(['Array(2,500)', '0 … 999', '1,000 … 1,999', '2,000 … 2,499']);
    const opened = rowsOf(large, new Map([[groupOf([], 2_000), true]]));
    expect(opened).toHaveLength(504);
    expect(opened.at(-1)).toMatchObject({ name: 2_499, text: '2499', depth: 2 });
  });

  it('has unique ids even for odd keys', () => {
    const rows = rowsOf({ 'a.b': 1, a: { b: 2 }, '0': [3] }, new Map());
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
  });
});

describe('findMatches', () => {
  const value = { users: [{ name: 'Ada' }, { name: 'Grace', note: 'adamant' }], ada: null };

  it('looks into names and values, in reading order', () => {
    expect(findMatches(value, ' ADA ')).toEqual([['users', 0, 'name'], ['users', 1, 'note'], ['ada']]);
    expect(findMatches(value, '')).toEqual([]);
  });

  it('knows what must be open to see a match', () => {
    expect(placesAbove(value, ['users', 0])).toEqual([placeOf([]), placeOf(['users'])]);
    const large = { all: Array.from({ length: 2_500 }, (_, index) => index) };
    expect(placesAbove(large, ['all', 1_234])).toEqual([placeOf([]), placeOf(['all']), groupOf(['all'], 1_000)]);
  });

  it('survives a value deeper than the stack', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(findMatches(deep, 'bottom')).toEqual([]);
  });
});
