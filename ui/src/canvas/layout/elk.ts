/** Layered layout by ELK, in a worker so that a large graph does not hold up the page. */
import ELK, { type ELK as Elk, type ElkEdgeSection, type ElkExtendedEdge, type ElkLabel, type ElkNode } from 'elkjs/lib/elk-api.js';
import { type Graph, NODE_HEIGHT } from '../graph';
import { type EdgeRoute, LABEL_HEIGHT, type Layout, type Point, ROOMY_NOTE, plainLayout, wordsWidth } from './layout';

const LIMIT_MILLIS = 30_000;
/** Above this many nodes good is better than best. */
const LARGE = 150;
const MOST_CACHED = 24;
/** What can be read as a whole in a window of ordinary size. */
const LONGEST_LINE = 1_180;
const FLATTEST = 4;
const TALLEST = 860;
const MOST_BACK = 4;

const cache = new Map<string, Layout>();
let elk: Elk | null = null;

export function cachedLayout(key: string): Layout | null {
  return cache.get(key) ?? null;
}

export async function layoutOf(graph: Graph): Promise<Layout> {
  const cached = cache.get(graph.key);
  if (cached) return cached;
  const layout = await computed(graph);
  if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value ?? '');
  cache.set(graph.key, layout);
  return layout;
}

async function computed(graph: Graph): Promise<Layout> {
  try {
    const line = await withLimit(worker().layout(elkGraph(graph)));
    if (!isTooLong(line) || graph.nodes.length > LARGE) return readLayout(graph, line);
    const wrapped = await withLimit(worker().layout(elkGraph(graph, WRAPPED)));
    return readLayout(graph, isClear(graph, wrapped) ? wrapped : line);
  } catch {
    // A worker that is stuck is of no use for the next graph either.
    elk?.terminateWorker();
    elk = null;
    return plainLayout(graph);
  }
}

function worker(): Elk {
  elk ??= new ELK({
    workerFactory: () => new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' }),
  });
  return elk;
}

function withLimit<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The layout took too long.')), LIMIT_MILLIS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** A graph that goes on below, as a long line of text does. */
const WRAPPED = {
  'elk.aspectRatio': '1.5',
  'elk.layered.wrapping.strategy': 'MULTI_EDGE',
  'elk.layered.wrapping.additionalEdgeSpacing': '12',
};

/** In one line it could only be read in pieces, with empty ground above and below. */
export function isTooLong({ width = 0, height = 0 }: Pick<ElkNode, 'width' | 'height'>): boolean {
  return width > LONGEST_LINE && width > FLATTEST * height;
}

/** It can be read as a whole, and few ways lead back to the left: many of them are a tangle that no line would be. */
export function isClear(graph: Graph, { width = 0, height = 0, children = [] }: Omit<ElkNode, 'children'> & { children?: ElkNode[] }): boolean {
  const at = new Map(graph.nodes.map(({ node }, index) => [node.id, children[index]?.x ?? 0]));
  const back = graph.edges.filter(({ edge }) => (at.get(edge.dst) ?? 0) <= (at.get(edge.src) ?? 0));
  return width <= LONGEST_LINE && height <= TALLEST && back.length <= MOST_BACK;
}

/** ELK gets numbers for names: ids come from files and may be anything. */
export function elkGraph(graph: Graph, more: { [option: string]: string } = {}): ElkNode {
  const numbers = new Map(graph.nodes.map(({ node }, index) => [node.id, `n${index}`]));
  return {
    id: 'graph',
    layoutOptions: { ...optionsFor(graph.nodes.length), ...more },
    children: graph.nodes.map(({ width }, index) => ({
      id: `n${index}`,
      width,
      height: NODE_HEIGHT,
      // Cards are of different width; their left edges make the columns.
      layoutOptions: { 'elk.alignment': 'LEFT' },
    })),
    edges: graph.edges.map(({ edge, label, isError, races }, index) => ({
      id: `e${index}`,
      sources: [numbers.get(edge.src) ?? ''],
      targets: [numbers.get(edge.dst) ?? ''],
      // The ordinary way is drawn straight; the way of failures bends around it.
      layoutOptions: { 'elk.layered.priority.straightness': isError ? '1' : '10' },
      labels: labelsOf(label, wordsWidth({ label, races })),
    })),
  };
}

function labelsOf(text: string, width: number): ElkLabel[] {
  if (width === 0) return [];
  // ELK keeps no room for an empty text, however wide it is said to be.
  return [{ text: text || ROOMY_NOTE, width, height: LABEL_HEIGHT, layoutOptions: { 'elk.edgeLabels.inline': 'true' } }];
}

function optionsFor(nodes: number): { [key: string]: string } {
  const large = nodes > LARGE;
  return {
    'elk.algorithm': 'layered',
    'elk.direction': 'RIGHT',
    'elk.edgeRouting': 'ORTHOGONAL',
    'elk.spacing.nodeNode': '36',
    'elk.spacing.edgeNode': '22',
    'elk.spacing.edgeEdge': '14',
    'elk.spacing.edgeLabel': '4',
    'elk.spacing.componentComponent': '64',
    'elk.layered.spacing.nodeNodeBetweenLayers': '40',
    'elk.layered.spacing.edgeNodeBetweenLayers': '18',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '14',
    'elk.layered.nodePlacement.strategy': large ? 'SIMPLE' : 'NETWORK_SIMPLEX',
    'elk.layered.thoroughness': large ? '2' : '14',
    'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
    'elk.layered.nodePlacement.favorStraightEdges': 'true',
  };
}

export function readLayout(graph: Graph, result: Omit<ElkNode, 'children'> & { children?: ElkNode[] }): Layout {
  const nodes = new Map<string, Point>();
  graph.nodes.forEach(({ node }, index) => {
    const placed = result.children?.[index];
    nodes.set(node.id, { x: placed?.x ?? 0, y: placed?.y ?? 0 });
  });
  const edges = new Map<string, EdgeRoute>();
  graph.edges.forEach(({ edge }, index) => {
    const route = readRoute(result.edges?.[index]);
    if (route) edges.set(edge.id, route);
  });
  return { key: graph.key, nodes, edges };
}

function readRoute(edge: ElkExtendedEdge | undefined): EdgeRoute | null {
  const section = edge?.sections?.[0];
  if (!section) return null;
  const label = edge?.labels?.[0];
  return {
    points: pointsOf(section),
    label: label
      ? { x: (label.x ?? 0) + (label.width ?? 0) / 2, y: (label.y ?? 0) + (label.height ?? 0) / 2 }
      : null,
  };
}

function pointsOf(section: ElkEdgeSection): Point[] {
  return [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
}
