/** Which of the layouts of a graph is read best in the room there is. */
import type { Graph } from '../graph';
import { boundsOf, comfort } from '../useView';
import { type Layout, waysBack } from './layout';

/** What an edge that leads back to the left takes from the joy of large type. */
const PER_WAY_BACK = 0.04;

/** The first of equals, which is the line. */
export function bestIn(layouts: readonly Layout[], graph: Graph, width: number): Layout | null {
  const [first = null] = layouts;
  if (width === 0 || layouts.length < 2) return first;
  const widths = new Map(graph.nodes.map(({ node, width: wide }) => [node.id, wide]));
  const worth = (layout: Layout): number => comfort(boundsOf(layout, widths), width, heightFor(width)) - PER_WAY_BACK * waysBack(graph, layout.nodes);
  return layouts.reduce((best, each) => (worth(each) > worth(best) ? each : best));
}

/**
 * What is there in height beside an open bottom panel, whether it is open or not: a graph must not be arranged anew when an
 * execution begins and the panel comes up.
 */
function heightFor(width: number): number {
  return Math.min(Math.max(width * 0.6, 360), 680);
}
