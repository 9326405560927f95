import { describe, expect, it } from 'vitest';
import type { TimerView } from '../generated/protocol';
import { inOrder, isOverdue, overdueReason, purposeOf } from './words';

describe('a timer', () => {
  it('is overdue after a second, not before', () => {
    expect(isOverdue({ due: 10_000 }, 10_900)).toBe(false);
    expect(isOverdue({ due: 10_000 }, 11_001)).toBe(true);
  });

  it.each([
    [{ type: 'rest' as const }, 'goes on'],
    [{ type: 'retry' as const, data: { attempt: 2, error: { code: 'CONNECTION_FAILED' as const, message: 'nobody answers' } } }, 'attempt 2, after: nobody answers'],
    [{ type: 'deadline' as const, data: { arrived: 1, expected: 3, stands: false } }, 'gives up with 1 of 3'],
    [{ type: 'deadline' as const, data: { arrived: 1, expected: 3, stands: true } }, 'would give up with 1 of 3'],
  ])('says what happens then', (purpose, words) => expect(purposeOf({ purpose })).toBe(words));

  it('says why it is late', () => {
    expect(overdueReason({ keeper: 'here' }, { working: false, queued: 0 })).toContain('stopped');
    expect(overdueReason({ keeper: 'here' }, { working: true, queued: 2 })).toContain('2 messages ahead');
    expect(overdueReason({ keeper: 'here' }, { working: true, queued: 0 })).toContain('not taken up');
  });

  it('of a cluster has nothing to do with what is queued here', () => {
    expect(overdueReason({ keeper: 'cluster' }, { working: false, queued: 2 })).toBe('due, and no worker has claimed it');
    expect(overdueReason({ keeper: 'cluster' }, { working: true, queued: 0 }, true)).toBe('due; whether anybody has claimed it cannot be seen at the moment');
    expect(overdueReason({ keeper: 'here' }, { working: true, queued: 0 }, true)).toContain('not taken up');
  });

  it('stands first where it is lost; the others keep their order', () => {
    const timer = (name: string, keeper: TimerView['keeper']): TimerView => ({ execution_id: 'x1', title: '', node_id: name, name, key: '', due: 0, set_at: 0, purpose: { type: 'rest' }, keeper });
    const timers = [timer('a', 'here'), timer('b', 'nobody'), timer('c', 'cluster'), timer('d', 'nobody')];
    expect(inOrder(timers).map(({ name }) => name)).toEqual(['b', 'd', 'a', 'c']);
  });
});
