/** When something happened at one node: the beginnings and ends of its bars. */
import type { Timeline } from '../generated/protocol';

export function nodeMoments(timeline: Timeline, nodeId: string): number[] {
  const bars = timeline.rows.find((row) => row.node_id === nodeId)?.bars ?? [];
  const moments = bars.flatMap(({ from, to }) => (to === null ? [from] : [from, to]));
  return [...new Set(moments)].toSorted((a, b) => a - b);
}

/** The next one of them from here, forwards or backwards; null at the end. */
export function nextMoment(moments: readonly number[], at: number, by: 1 | -1): number | null {
  return (by > 0 ? moments.find((each) => each > at) : moments.findLast((each) => each < at)) ?? null;
}
