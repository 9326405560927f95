/** When a message passed a breakpoint that is set: where one stops on the way back. Conditions are not asked again. */
import type { Breakpoint, Timeline, Workflow } from '../generated/protocol';
import { portOf } from './breakpoints';

export function breakMoments(timeline: Timeline, breakpoints: readonly Breakpoint[], definition: Workflow | null): number[] {
  const moments = breakpoints
    .filter(({ disabled, log }) => !disabled && (log ?? null) === null)
    .flatMap(({ place }) => {
      const port = portOf(place);
      if (port === null) return [];
      if (port.type !== 'edge') return momentsAt(timeline, port.nodeId, port.type);
      const source = definition?.edges.find(({ id }) => id === port.edgeId)?.src;
      return source === undefined ? [] : momentsAt(timeline, source, 'after');
    });
  return [...new Set(moments)].toSorted((a, b) => a - b);
}

function momentsAt(timeline: Timeline, nodeId: string, side: 'before' | 'after'): number[] {
  const bars = timeline.rows.find((row) => row.node_id === nodeId)?.bars ?? [];
  return bars.filter(({ kind }) => kind === 'run').flatMap(({ from, to }) => (side === 'before' ? [from] : to === null ? [] : [to]));
}

/** The last one before this moment; null before the first. */
export function momentBefore(moments: readonly number[], at: number): number | null {
  return moments.findLast((each) => each < at) ?? null;
}
