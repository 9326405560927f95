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
  const lines = linesOf(graph.nodes.flatMap(({ node, width }) => boxOf(layout, node.id, width)));
  const areas = splitsOf(definition).flatMap((split) => {
    const inside = graph.nodes.filter(({ node }) => scopes.get(node.id)?.includes(split));
    const depth = (scopes.get(split)?.length ?? 0) + 1;
    const boxes = inside.flatMap(({ node, width }) => boxOf(layout, node.id, width));
    const others = graph.nodes.filter((each) => !inside.includes(each)).flatMap(({ node, width }) => boxOf(layout, node.id, width));
    const outward = deepest - depth + 1;
    return piecesOf(boxes, others, lines).map((piece) => {
      const { left, top, right, bottom } = around(piece);
      const [x, y] = [left - MARGIN * outward, top - (MARGIN + HEAD) * outward];
      return { split, depth, x, y, width: right + MARGIN * outward - x, height: bottom + MARGIN * outward - y };
    });
  });
  // The outer ones are painted first.
  return areas.toSorted((a, b) => a.depth - b.depth);
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function boxOf(layout: Layout, nodeId: string, width: number): Box[] {
  const at = layout.nodes.get(nodeId);
  return at ? [{ left: at.x, top: at.y, right: at.x + width, bottom: at.y + NODE_HEIGHT }] : [];
}

function around(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}

/** Where a graph goes on below, its lines: stretches from top to bottom with nothing between them. */
function linesOf(boxes: readonly Box[]): { top: number; bottom: number }[] {
  const lines: { top: number; bottom: number }[] = [];
  for (const { top, bottom } of boxes.toSorted((a, b) => a.top - b.top)) {
    const last = lines.at(-1);
    if (last && top <= last.bottom) last.bottom = Math.max(last.bottom, bottom);
    else lines.push({ top, bottom });
  }
  return lines;
}

/** One area, or one in each line where one would hold what does not belong to it. */
function piecesOf(boxes: Box[], others: readonly Box[], lines: readonly { top: number; bottom: number }[]): Box[][] {
  if (boxes.length === 0) return [];
  const whole = around(boxes);
  const foreign = others.some((box) => box.left < whole.right && box.right > whole.left && box.top < whole.bottom && box.bottom > whole.top);
  if (!foreign) return [boxes];
  return lines.map(({ top, bottom }) => boxes.filter((box) => box.top >= top && box.bottom <= bottom)).filter((piece) => piece.length > 0);
}
