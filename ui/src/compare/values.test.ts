import { describe, expect, it } from 'vitest';
import { shortPair } from './values';

describe('shortPair', () => {
  it.each([
    [5, 1, '5', '1'],
    [null, 'yes', 'nothing', '"yes"'],
    ['Tue, 17 Nov 2026 13:20:56 GMT', 'Tue, 17 Nov 2026 13:21:05 GMT', '… 13:20:56 GMT"', '… 13:21:05 GMT"'],
    ['2026-11-17T17:16:41.7Z', '2026-11-17T17:16:45.4Z', '…:16:41.7Z"', '…:16:45.4Z"'],
    ['a short one', 'a short two', '"a short one"', '"a short two"'],
    ['a value that is far too long to be told', 7, '"a value that is far too …', '7'],
  ])('tells %j from %j', (a, b, before, after) => {
    expect(shortPair(a, b)).toEqual([before, after]);
  });
});
