import { describe, expect, it } from 'vitest';
import { readBookmarks, withBookmark, withoutBookmark } from './bookmarks';

const mark = (position: number, note = '') => ({ position, at: position * 10, note });

describe('bookmarks', () => {
  it('stand in their order, one per position', () => {
    const first = withBookmark(withBookmark({}, 'x1', mark(9)), 'x1', mark(3));
    expect(withBookmark(first, 'x1', mark(9, 'here it hangs'))).toEqual({ x1: [mark(3), mark(9, 'here it hangs')] });
  });

  it('go away, and with the last one the execution does', () => {
    const both = withBookmark(withBookmark({}, 'x1', mark(1)), 'x1', mark(2));
    expect(withoutBookmark(both, 'x1', 1)).toEqual({ x1: [mark(2)] });
    expect(withoutBookmark(withoutBookmark(both, 'x1', 1), 'x1', 2)).toEqual({});
  });

  it('do not grow for ever', () => {
    const many = Array.from({ length: 150 }).reduce<ReturnType<typeof withBookmark>>((all, _, index) => withBookmark(all, `x${index}`, mark(1)), {});
    expect(Object.keys(many)).toHaveLength(100);
    expect(many.x149).toBeTruthy();
  });

  it.each([[null], [{ x1: 7 }], [{ x1: [{ position: 'far', at: 1, note: '' }] }]])('read %j as nothing', (stored) => expect(readBookmarks(stored)).toEqual({}));

  it('come back', () => expect(readBookmarks({ x1: [mark(4, 'a')] })).toEqual({ x1: [mark(4, 'a')] }));
});
