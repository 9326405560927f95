import { describe, expect, it } from 'vitest';
import type { Bar, Timeline } from '../generated/protocol';
import { nextMoment, nodeMoments } from './nodeMoments';

const bar = (from: number, to: number | null): Bar => ({ kind: 'run', from, to, count: 1, failed: 0 });
const TIMELINE: Timeline = {
  execution_id: 'x1',
  position: 9,
  started_at: 0,
  latest_at: 50,
  rows: [{ node_id: 'greet', bars: [bar(30, null), bar(10, 20), bar(20, 30)] }],
  ticks: [],
};

describe('the moments of a node', () => {
  it('are the ends of its bars, each once', () => {
    expect(nodeMoments(TIMELINE, 'greet')).toEqual([10, 20, 30]);
    expect(nodeMoments(TIMELINE, 'nobody')).toEqual([]);
  });

  it('are walked in both directions, to the end', () => {
    expect([nextMoment([10, 20, 30], 20, 1), nextMoment([10, 20, 30], 20, -1)]).toEqual([30, 10]);
    expect([nextMoment([10, 20], 20, 1), nextMoment([10, 20], 10, -1)]).toEqual([null, null]);
  });
});
