import { describe, expect, it } from 'vitest';
import type { Bar, Timeline } from '../generated/protocol';
import { WORKFLOW } from '../testing/fixtures';
import { breakMoments, momentBefore } from './breakMoments';

const bar = (kind: Bar['kind'], from: number, to: number | null): Bar => ({ kind, from, to, count: 1 }) as Bar;
const timeline = {
  rows: [
    { node_id: 'greet', bars: [bar('queue', 1, 2), bar('run', 2, 5), bar('run', 8, null)] },
    { node_id: 'say', bars: [bar('run', 6, 7)] },
  ],
} as unknown as Timeline;

describe('breakMoments', () => {
  it('are when work began, or ended, by the side', () => {
    expect(breakMoments(timeline, [{ place: { type: 'before', node_id: 'greet' } }], WORKFLOW)).toEqual([2, 8]);
    expect(breakMoments(timeline, [{ place: { type: 'after', node_id: 'greet' } }], WORKFLOW)).toEqual([5]);
    expect(breakMoments(timeline, [{ place: { type: 'edge', edge_id: 'b' } }, { place: { type: 'before', node_id: 'say' } }], WORKFLOW)).toEqual([5, 6]);
  });

  it('leave out what is disabled, and what only speaks', () => {
    const place = { type: 'before' as const, node_id: 'greet' };
    expect(breakMoments(timeline, [{ place, disabled: true }, { place, log: 'x' }, { place: { type: 'error' } }], WORKFLOW)).toEqual([]);
  });

  it('and one goes back to the last one', () => {
    expect(momentBefore([2, 5, 8], 8)).toBe(5);
    expect(momentBefore([2, 5, 8], 2)).toBeNull();
  });
});
