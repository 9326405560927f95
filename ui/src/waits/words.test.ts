import { describe, expect, it } from 'vitest';
import { isOverdue, overdueReason, purposeOf } from './words';

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
    expect(overdueReason({ working: false, queued: 0 })).toContain('stopped');
    expect(overdueReason({ working: true, queued: 2 })).toContain('2 messages ahead');
    expect(overdueReason({ working: true, queued: 0 })).toContain('not taken up');
  });
});
