/** Nodes that stand out in the graph for a reason, such as the way that took longest. */
import { type Highlight, type State, useStore } from './store';

export function showHighlight(highlight: Highlight | null): void {
  useStore.setState({ highlight });
}

/** Whether a node stands out, or steps back; null when nothing does. */
export function highlightOf({ highlight }: State, nodeId: string): 'on' | 'off' | null {
  if (highlight === null) return null;
  return highlight.nodes.includes(nodeId) ? 'on' : 'off';
}

/** An edge belongs to what stands out when it leads from one of its nodes to the next. */
export function highlightedEdge({ highlight }: State, source: string, target: string): 'on' | 'off' | null {
  if (highlight === null) return null;
  const at = highlight.nodes.indexOf(source);
  return at >= 0 && highlight.nodes[at + 1] === target ? 'on' : 'off';
}
