/** Where an arrow key leads: left and right along edges, up and down among nodes side by side. */
import type { Graph } from './graph';
import type { Layout, Point } from './layout/layout';

export type Direction = 'left' | 'right' | 'up' | 'down';

const KEYS: { [key: string]: Direction } = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

export function directionOf(key: string): Direction | null {
  return KEYS[key] ?? null;
}

export function neighbour(graph: Graph, layout: Layout, from: string, direction: Direction): string | null {
  const here = layout.nodes.get(from);
  if (!here) return null;
  const candidates =
    direction === 'left' || direction === 'right' ? alongEdges(graph, from, direction) : others(graph, from);
  let best: { id: string; cost: number } | null = null;
  for (const id of candidates) {
    const there = layout.nodes.get(id);
    const cost = there ? costOf(here, there, direction) : Infinity;
    if (cost < (best?.cost ?? Infinity)) best = { id, cost };
  }
  return best?.id ?? null;
}

function alongEdges(graph: Graph, from: string, direction: 'left' | 'right'): string[] {
  return direction === 'right'
    ? graph.edges.filter(({ edge }) => edge.src === from).map(({ edge }) => edge.dst)
    : graph.edges.filter(({ edge }) => edge.dst === from).map(({ edge }) => edge.src);
}

function others(graph: Graph, from: string): string[] {
  return graph.nodes.map(({ node }) => node.id).filter((id) => id !== from);
}

/** Infinity where the way does not lead there; sideways steps are dear, so that up and down stay in a column. */
function costOf(here: Point, there: Point, direction: Direction): number {
  const across = Math.abs(there.x - here.x);
  const down = there.y - here.y;
  switch (direction) {
    case 'left':
    case 'right':
      return Math.abs(down) + across * 0.01;
    case 'up':
      return down < 0 ? -down + across * 4 : Infinity;
    case 'down':
      return down > 0 ? down + across * 4 : Infinity;
  }
}
