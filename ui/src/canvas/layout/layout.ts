/** What a layout is, and the plain one that stands in where ELK cannot work. */
import { type Graph, type GraphEdge, NODE_HEIGHT } from '../graph';

export interface Point {
  x: number;
  y: number;
}

export interface EdgeRoute {
  points: Point[];
  /** The centre of its words. */
  label: Point | null;
}

export interface Layout {
  /** The same key is the same picture. */
  key: string;
  nodes: ReadonlyMap<string, Point>;
  edges: ReadonlyMap<string, EdgeRoute>;
}

export const LABEL_HEIGHT = 18;

export function labelWidth(label: string): number {
  return Math.round(label.length * 6.6 + 14);
}

/** The longest of what an edge usually has to say when it lost. */
export const ROOMY_NOTE = '10 too late';

/** The room an edge needs for its words: its label, and what it may have to say when it loses a race. */
export function wordsWidth({ label, races }: Pick<GraphEdge, 'label' | 'races'>): number {
  return Math.max(label === '' ? 0 : labelWidth(label), races ? labelWidth(ROOMY_NOTE) : 0);
}

/** The middle of the longest level piece, where words stand best when no room was kept for them. */
export function levelMiddle(points: readonly Point[]): Point | null {
  const pieces = points.slice(1).map((to, index) => ({ from: points[index] ?? to, to }));
  const level = pieces.filter(({ from, to }) => from.y === to.y);
  const longest = level.toSorted((a, b) => Math.abs(b.to.x - b.from.x) - Math.abs(a.to.x - a.from.x))[0];
  return longest ? { x: (longest.from.x + longest.to.x) / 2, y: longest.to.y } : null;
}

/** How many edges lead to the left. */
export function waysBack(graph: Graph, nodes: ReadonlyMap<string, Point>): number {
  const x = (id: string): number => nodes.get(id)?.x ?? 0;
  return graph.edges.filter(({ edge }) => x(edge.dst) <= x(edge.src)).length;
}

const COLUMN = 320;
const ROW = NODE_HEIGHT + 40;

/** Columns by the longest way from a start. Nothing clever: it is there so that a graph is never missing. */
export function plainLayout(graph: Graph): Layout {
  const columns = columnsOf(graph);
  const used = new Map<number, number>();
  const nodes = new Map<string, Point>();
  for (const { node } of graph.nodes) {
    const column = columns.get(node.id) ?? 0;
    const row = used.get(column) ?? 0;
    used.set(column, row + 1);
    nodes.set(node.id, { x: column * COLUMN, y: row * ROW });
  }
  return { key: graph.key, nodes, edges: plainRoutes(graph, nodes) };
}

function plainRoutes(graph: Graph, nodes: ReadonlyMap<string, Point>): Map<string, EdgeRoute> {
  const widths = new Map(graph.nodes.map(({ node, width }) => [node.id, width]));
  const routes = new Map<string, EdgeRoute>();
  for (const graphEdge of graph.edges) {
    const { edge } = graphEdge;
    const from = nodes.get(edge.src);
    const to = nodes.get(edge.dst);
    if (!from || !to) continue;
    const start = { x: from.x + (widths.get(edge.src) ?? 0), y: from.y + NODE_HEIGHT / 2 };
    const end = { x: to.x, y: to.y + NODE_HEIGHT / 2 };
    const middle = Math.max(start.x + 20, end.x - 30);
    routes.set(edge.id, {
      points: [start, { x: middle, y: start.y }, { x: middle, y: end.y }, end],
      label: wordsWidth(graphEdge) === 0 ? null : { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 },
    });
  }
  return routes;
}

/** Kahn's walk; what stands in a cycle is never reached and stays in the first column. */
function columnsOf(graph: Graph): Map<string, number> {
  const incoming = new Map(graph.nodes.map(({ node }) => [node.id, 0]));
  const outgoing = new Map<string, string[]>();
  for (const { edge } of graph.edges) {
    incoming.set(edge.dst, (incoming.get(edge.dst) ?? 0) + 1);
    outgoing.set(edge.src, [...(outgoing.get(edge.src) ?? []), edge.dst]);
  }
  const columns = new Map<string, number>();
  const ready = [...incoming].filter(([, count]) => count === 0).map(([id]) => id);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    const column = columns.get(id) ?? 0;
    columns.set(id, column);
    for (const next of outgoing.get(id) ?? []) {
      columns.set(next, Math.max(columns.get(next) ?? 0, column + 1));
      const left = (incoming.get(next) ?? 0) - 1;
      incoming.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return columns;
}
