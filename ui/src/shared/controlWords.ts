/** Breakpoints, mocks and held messages in the words people read. */
import type { BreakPlace, Breakpoint, HeldMessage, MockAnswer, WhyHeld, Workflow } from '../generated/protocol';
import { formatCount, formatDuration } from './format';
import { titleOf } from './title';

export type Side = 'before' | 'after' | 'edge' | 'error' | 'barrier';

export const PLACE_WORDS: { [K in Side]: string } = {
  before: 'Before',
  after: 'After',
  edge: 'On the edge',
  error: 'When it fails',
  barrier: 'When it opens',
};

export function nodeTitle(definition: Workflow | null, nodeId: string): string {
  const node = definition?.nodes.find(({ id }) => id === nodeId);
  return node ? titleOf(node) : nodeId;
}

/** `Load → Check` */
export function edgeTitle(definition: Workflow | null, edgeId: string): string {
  const edge = definition?.edges.find(({ id }) => id === edgeId);
  return edge ? `${nodeTitle(definition, edge.src)} → ${nodeTitle(definition, edge.dst)}` : edgeId;
}

/** What the breakpoint is at; any of them where none is named. */
export function targetOf(place: BreakPlace, definition: Workflow | null): string {
  switch (place.type) {
    case 'before':
    case 'after':
      return nodeTitle(definition, place.node_id);
    case 'edge':
      return edgeTitle(definition, place.edge_id);
    case 'error':
      return place.node_id ? nodeTitle(definition, place.node_id) : 'any node';
    case 'barrier':
      return place.node_id ? nodeTitle(definition, place.node_id) : 'any join';
  }
}

/** False where the file has lost it since. */
export function isThere(place: BreakPlace, definition: Workflow | null): boolean {
  if (definition === null) return true;
  if (place.type === 'edge') return definition.edges.some(({ id }) => id === place.edge_id);
  return !place.node_id || definition.nodes.some(({ id }) => id === place.node_id);
}

export function placeWords(place: BreakPlace, definition: Workflow | null): string {
  return `${PLACE_WORDS[place.type]} ${targetOf(place, definition)}`;
}

/** What has to be true of a message, piece by piece. */
export function conditionWords({ condition, item, key, hits }: Breakpoint): string[] {
  const words: string[] = [];
  if ((item ?? null) !== null) words.push(`item ${formatCount(item ?? 0)}`);
  if (key) words.push(key);
  if (condition) words.push(condition);
  if ((hits ?? null) !== null) words.push(`from hit ${formatCount(hits ?? 0)}`);
  return words;
}

export function whyWords(why: WhyHeld): string {
  switch (why.type) {
    case 'breakpoint':
      return `breakpoint ${why.index + 1}`;
    case 'broken_condition':
      return `breakpoint ${why.index + 1} cannot decide`;
    case 'paused':
      return 'everything is paused';
    case 'node_paused':
      return 'this node is paused';
    case 'stepped':
      return 'stepped here';
  }
}

export function sideWords({ gate }: Pick<HeldMessage, 'gate'>): string {
  return gate === 'before' ? 'before its work' : 'after its work';
}

export function keyWords(key: string): string {
  return key === '' ? 'root' : key;
}

export function mockWords(answer: MockAnswer): string {
  switch (answer.type) {
    case 'output':
      return 'pinned output';
    case 'error':
      return `fails: ${answer.message}`;
    case 'latency':
      return `takes ${formatDuration(answer.millis)} longer`;
  }
}
