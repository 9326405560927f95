/** Layered layout by ELK, in a worker so that a large graph does not hold up the page. */
import ELK, { type ELK as Elk, type ElkEdgeSection, type ElkExtendedEdge, type ElkLabel, type ElkNode } from 'elkjs/lib/elk-api.js';
import { type Graph, NODE_HEIGHT } from '../graph';
import { type EdgeRoute, LABEL_HEIGHT, type Layout, type Point, ROOMY_NOTE, plainLayout, waysBack, wordsWidth } from './layout';

const LIMIT_MILLIS = 30_000;
/** Above this many nodes good is better than best. */
const LARGE = 150;
const MOST_CACHED = 24;
/** A line that is no longer than this is in sight as a whole even beside two open panels. */
const SHORT_LINE = 560;
/** A line that is not much wider than high is no line. */
const FLAT = 1.6;
/** Up to this many nodes several ways to wrap are tried. */
const SMALL = 40;
const MOST_BACK = 4;

const cache = new Map<string, readonly Layout[]>();
let elk: Elk | null = null;

export function cachedLayouts(key: string): readonly Layout[] | null {
  return cache.get(key) ?? null;
}

/** In one line first; then, where that is long, as it goes on below in several ways. Which is best depends on the room. */
export async function layoutsOf(graph: Graph): Promise<readonly Layout[]> {
  const cached = cache.get(graph.key);
  if (cached) return cached;
  const layouts = await computed(graph);
  if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value ?? '');
  cache.set(graph.key, layouts);
  return layouts;
}

async function computed(graph: Graph): Promise<readonly Layout[]> {
  try {
    const line = await withLimit(worker().layout(elkGraph(graph)));
    const layouts = [readLayout(graph, line)];
    if (!isLong(line) || graph.nodes.length > LARGE) return layouts;
    for (const wrap of graph.nodes.length > SMALL ? WRAPS.slice(0, 1) : WRAPS) {
      const wrapped = await withLimit(worker().layout(elkGraph(graph, wrappedBy(wrap))));
      if (!isTangle(graph, wrapped)) layouts.push(readLayout(graph, wrapped, ` ${wrap.cut} ${wrap.shape}`));
    }
    return layouts;
  } catch {
    // A worker that is stuck is of no use for the next graph either.
    elk?.terminateWorker();
    elk = null;
    return [plainLayout(graph)];
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

interface Wrap {
  /** Width by height of what is wanted. */
  shape: number;
  /** How ELK finds the places where a line ends. None of its ways is best for every graph. */
  cut: 'MSD' | 'ARD';
}

/** The first is the one that serves most graphs. */
const WRAPS: readonly Wrap[] = [
  { shape: 1.5, cut: 'MSD' },
  { shape: 1.5, cut: 'ARD' },
  { shape: 0.9, cut: 'ARD' },
  { shape: 2.4, cut: 'MSD' },
];

/** A graph that goes on below, as a long line of text does. It is wrapped for want of room, so it stands closer too. */
export function wrappedBy({ shape, cut }: Wrap): { [option: string]: string } {
  return {
    'elk.aspectRatio': String(shape),
    'elk.layered.wrapping.strategy': 'MULTI_EDGE',
    'elk.layered.wrapping.cutting.strategy': cut,
    'elk.layered.wrapping.additionalEdgeSpacing': '8',
    'elk.layered.spacing.nodeNodeBetweenLayers': '28',
    'elk.layered.spacing.edgeNodeBetweenLayers': '13',
    'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
    'elk.spacing.nodeNode': '28',
    'elk.spacing.edgeNode': '16',
    'elk.spacing.edgeEdge': '11',
  };
}

/** In one line it might be small print, with empty ground above and below. */
export function isLong({ width = 0, height = 0 }: Pick<ElkNode, 'width' | 'height'>): boolean {
  return width > SHORT_LINE && width > FLAT * height;
}

/** Many ways lead back to the left, which no line has. */
export function isTangle(graph: Graph, { children = [] }: Omit<ElkNode, 'children'> & { children?: ElkNode[] }): boolean {
  return waysBack(graph, new Map(graph.nodes.map(({ node }, index) => [node.id, { x: children[index]?.x ?? 0, y: 0 }]))) > MOST_BACK;
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

/** `name` tells the layouts of a graph apart. */
export function readLayout(graph: Graph, result: Omit<ElkNode, 'children'> & { children?: ElkNode[] }, name = ''): Layout {
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
  return { key: `${graph.key}${name}`, nodes, edges };
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
