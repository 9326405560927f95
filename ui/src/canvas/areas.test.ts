import { describe, expect, it } from 'vitest';
import type { Workflow } from '../generated/protocol';
import { areasOf } from './areas';
import { graphOf } from './graph';
import { plainLayout } from './layout/layout';

const NESTED: Workflow = {
  nodes: [
    ['t', 'trigger'],
    ['x', 'split'],
    ['y', 'split'],
    ['e', 'log'],
    ['b', 'aggregator'],
    ['a', 'aggregator'],
  ].map(([id, type]) => ({ id: id ?? '', type: type ?? '', parameters: {} })),
  edges: ['t>x', 'x>y', 'y>e', 'e>b', 'b>a'].map((edge) => ({ id: edge, src: edge[0] ?? '', dst: edge[2] ?? '' })),
};

describe('areasOf', () => {
  it('nests the area of an inner fan-out in that of the outer one', () => {
    const graph = graphOf(NESTED);
    const [outer, inner] = areasOf(NESTED, graph, plainLayout(graph));
    expect([outer?.split, inner?.split]).toEqual(['x', 'y']);
    if (!outer || !inner) throw new Error('two areas');
    expect(outer.x).toBeLessThan(inner.x);
    expect(outer.y).toBeLessThan(inner.y);
    expect(outer.x + outer.width).toBeGreaterThan(inner.x + inner.width);
    expect(outer.y + outer.height).toBeGreaterThan(inner.y + inner.height);
  });

  it('has a piece in each line where the graph goes on below', () => {
    const graph = graphOf(NESTED);
    const places: [string, number, number][] = [['t', 0, 0], ['x', 300, 0], ['y', 600, 0], ['e', 0, 200], ['b', 300, 200], ['a', 600, 200]];
    const layout = { key: '', nodes: new Map(places.map(([id, x, y]) => [id, { x, y }])), edges: new Map() };
    const areas = areasOf(NESTED, graph, layout);
    const outer = areas.filter(({ split }) => split === 'x');
    expect(outer).toHaveLength(2);
    // The trigger and the split itself are outside of it, and so is what gathers in the end.
    expect(outer[0]?.x).toBeGreaterThan(300);
    expect((outer[1]?.x ?? 0) + (outer[1]?.width ?? 0)).toBeLessThan(600);
  });

  it('paints nothing without a fan-out', () => {
    const plain = { nodes: NESTED.nodes.slice(0, 1), edges: [] };
    expect(areasOf(plain, graphOf(plain), plainLayout(graphOf(plain)))).toEqual([]);
  });
});
