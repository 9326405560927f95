/** Which of the layouts of a graph is read best in the room there is. */
import type { Graph } from '../graph';
import { boundsOf, comfort } from '../useView';
import { type Layout, waysBack } from './layout';

/** The share that edges leading back take from the joy of large type: one reads like the end of a line, several are a maze. */
const PER_WAY_BACK = 0.02;
/** However many they are, what cannot be read at all is worse. */
const MOST_TAKEN = 0.2;

/** The first of equals, which is the line. */
export function bestIn(layouts: readonly Layout[], graph: Graph, width: number): Layout | null {
  const [first = null] = layouts;
  if (width === 0 || layouts.length < 2) return first;
  const widths = new Map(graph.nodes.map(({ node, width: wide }) => [node.id, wide]));
  const worth = (layout: Layout): number => comfort(boundsOf(layout, widths), width, heightFor(width)) * (1 - taken(waysBack(graph, layout.nodes)));
  return layouts.reduce((best, each) => (worth(each) > worth(best) ? each : best));
}

function taken(back: number): number {
  return Math.min(PER_WAY_BACK * back * back, MOST_TAKEN);
}

/**
 * What is there in height beside an open bottom panel, whether it is open or not: a graph must not be arranged anew when an
 * execution begins and the panel comes up.
 */
function heightFor(width: number): number {
  return Math.min(Math.max(width * 0.6, 360), 680);
}
