/** The graph to draw. A file may be wrong and is shown all the same, so what cannot be drawn is left out here. */
import type { Edge, Node, Workflow } from '../generated/protocol';
import { titleOf } from '../shared/title';
import { fannedOutNodes } from './fanOut';

export interface GraphNode {
  node: Node;
  title: string;
  width: number;
}

export interface GraphEdge {
  edge: Edge;
  label: string;
  /** Followed only when its source fails. */
  isError: boolean;
  /** Leads into a race, which it may lose; the layout keeps room to say so. */
  races: boolean;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** The same key means the same layout, whatever parameters and states say. */
  key: string;
}

export const NODE_HEIGHT = 72;
const NARROWEST = 144;
/** Has room for a word with a countdown or `10,000 / 10,000` beside it. */
const NARROWEST_WAITING = 184;
/** Has room for the counts of many firings. */
const NARROWEST_FANNED_OUT = 208;
const WIDEST = 216;
const WAITING_KINDS = new Set(['wait', 'aggregator', 'merge', 'http', 'smtp', 'collect', 'zip', 'cross', 'batch']);
const LONGEST_LABEL = 22;

export function graphOf(definition: Workflow): Graph {
  const fannedOut = fannedOutNodes(definition);
  const nodes = firstOfEach(definition.nodes, (node) => node.id).map((node) => graphNode(node, fannedOut.has(node.id)));
  const known = new Set(nodes.map(({ node }) => node.id));
  const errorEdges = new Set(definition.nodes.flatMap(errorEdgeOf));
  const races = new Set(definition.nodes.filter(isRace).map((node) => node.id));
  const edges = firstOfEach(definition.edges, (edge) => edge.id)
    .filter((edge) => known.has(edge.src) && known.has(edge.dst) && edge.src !== edge.dst)
    .map((edge) => graphEdge(edge, errorEdges.has(edge.id), races.has(edge.dst)));
  return { nodes, edges, key: keyOf(nodes, edges) };
}

function graphNode(node: Node, fannedOut: boolean): GraphNode {
  const title = titleOf(node);
  // Widths are estimated, not measured: the layout depends on the definition alone, so a card never grows while it runs.
  const width = Math.min(Math.max(BESIDE_TITLE + titleWidth(title), narrowest(node.type, fannedOut)), WIDEST);
  return { node, title, width: Math.ceil(width / 4) * 4 };
}

/** The icon of a card and its margins. */
const BESIDE_TITLE = 48;

/** In the widest of the usual fonts, so that no title is cut in the others. */
export function titleWidth(title: string): number {
  return [...title].reduce((sum, letter) => sum + letterWidth(letter), 0);
}

function letterWidth(letter: string): number {
  if (/[ .,:;'’!|()[\]\-ijl]/.test(letter)) return 4.8;
  if (/[frt]/.test(letter)) return 6.3;
  if (/[mwMW@%]/.test(letter) || letter >= '\u2e80') return 13;
  return /[A-Z&]/.test(letter) ? 10.2 : 8.9;
}

function narrowest(kind: string, fannedOut: boolean): number {
  if (fannedOut) return NARROWEST_FANNED_OUT;
  return WAITING_KINDS.has(kind) ? NARROWEST_WAITING : NARROWEST;
}

function graphEdge(edge: Edge, isError: boolean, races: boolean): GraphEdge {
  const text = edge.label ?? (isError ? 'on error' : handles(edge));
  const label = text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text;
  return { edge, label, isError, races };
}

/** Outputs that every value leaves by say nothing; the input it arrives at does. */
const PLAIN_OUTPUTS = new Set(['', 'out', 'output', 'line']);

function handles({ source_handle: output = '', target_handle: input = '' }: Edge): string {
  const from = PLAIN_OUTPUTS.has(output) ? '' : output;
  const to = PLAIN_INPUTS.has(input) ? '' : input;
  if (from === to || to === '') return from;
  return from === '' ? to : `${from} → ${to}`;
}

/** The main input of a kind, where there is nothing to confuse it with. */
const PLAIN_INPUTS = new Set(['', 'in', 'input_item', 'input_list', 'text', 'value']);

function isRace({ type, parameters }: Node): boolean {
  return type === 'merge' && parameters['wait_mode'] === 'wait_for_any';
}

function errorEdgeOf(node: Node): string[] {
  return node.error?.type === 'branch' ? [node.error.error_edge] : [];
}

function firstOfEach<T>(items: readonly T[], idOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const id = idOf(item);
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function keyOf(nodes: GraphNode[], edges: GraphEdge[]): string {
  return JSON.stringify([
    nodes.map(({ node, width }) => [node.id, width]),
    edges.map(({ edge, label, isError, races }) => [edge.id, edge.src, edge.dst, label, isError, races]),
  ]);
}
