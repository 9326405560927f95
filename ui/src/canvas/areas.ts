/** The areas of fan-outs: what is repeated for every item of a split, nested as the splits are. */
import type { Workflow } from '../generated/protocol';
import { scopesOf, splitsOf } from '../shared/scopes';
import { type Graph, NODE_HEIGHT } from './graph';
import type { Layout } from './layout/layout';

export interface Area {
  split: string;
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Around the innermost area; every level outside of it has as much again. */
const MARGIN = 14;
/** Above the nodes, for the name. */
const HEAD = 18;

export function areasOf(definition: Workflow, graph: Graph, layout: Layout): Area[] {
  const scopes = scopesOf(definition);
  const deepest = Math.max(0, ...[...scopes.values()].map((scope) => scope.length));
  const areas = splitsOf(definition).flatMap((split) => {
    const inside = graph.nodes.filter(({ node }) => scopes.get(node.id)?.includes(split));
    const depth = (scopes.get(split)?.length ?? 0) + 1;
    const boxes = inside.flatMap(({ node, width }) => {
      const at = layout.nodes.get(node.id);
      return at ? [{ left: at.x, top: at.y, right: at.x + width, bottom: at.y + NODE_HEIGHT }] : [];
    });
    if (boxes.length === 0) return [];
    const pad = MARGIN * (deepest - depth + 1);
    const x = Math.min(...boxes.map((box) => box.left)) - pad;
    const y = Math.min(...boxes.map((box) => box.top)) - pad - HEAD * (deepest - depth + 1);
    const width = Math.max(...boxes.map((box) => box.right)) + pad - x;
    const height = Math.max(...boxes.map((box) => box.bottom)) + pad - y;
    return [{ split, depth, x, y, width, height }];
  });
  // The outer ones are painted first.
  return areas.toSorted((a, b) => a.depth - b.depth);
}
