/** The graph and its layout, in the words of React Flow. States are not part of it: cards listen for themselves. */
import { Position } from '@xyflow/react';
import type { Diagnostic } from '../generated/protocol';
import type { CardNode } from './NodeCard';
import type { RouteFlowEdge } from './RouteEdge';
import { type Graph, NODE_HEIGHT } from './graph';
import type { Layout } from './layout/layout';

const NONE: Diagnostic[] = [];

export function flowNodes(graph: Graph, layout: Layout, diagnostics: readonly Diagnostic[]): CardNode[] {
  const byNode = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    if (diagnostic.node_id === undefined) continue;
    byNode.set(diagnostic.node_id, [...(byNode.get(diagnostic.node_id) ?? []), diagnostic]);
  }
  return graph.nodes.map(({ node, title, width }) => ({
    id: node.id,
    type: 'card',
    position: layout.nodes.get(node.id) ?? { x: 0, y: 0 },
    width,
    height: NODE_HEIGHT,
    // Known sizes and handles spare the measuring, so nodes out of sight never have to be drawn.
    measured: { width, height: NODE_HEIGHT },
    handles: [
      { type: 'target', position: Position.Left, x: 0, y: NODE_HEIGHT / 2, width: 1, height: 1 },
      { type: 'source', position: Position.Right, x: width, y: NODE_HEIGHT / 2, width: 1, height: 1 },
    ],
    data: { node, title, diagnostics: byNode.get(node.id) ?? NONE },
  }));
}

export function flowEdges(graph: Graph, layout: Layout): RouteFlowEdge[] {
  return graph.edges.flatMap((graphEdge) => {
    const route = layout.edges.get(graphEdge.edge.id);
    if (!route) return [];
    const { id, src, dst } = graphEdge.edge;
    return [{ id, type: 'route' as const, source: src, target: dst, data: { ...graphEdge, route } }];
  });
}
