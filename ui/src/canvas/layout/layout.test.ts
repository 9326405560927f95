import ELK from 'elkjs/lib/main.js';
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../generated/protocol';
import { NODE_HEIGHT, graphOf } from '../graph';
import { neighbour } from '../navigate';
import { arrowPath, routePath } from '../route';
import { fitted, firstLook } from '../useView';
import { bestIn } from './best';
import { elkGraph, isLong, isTangle, readLayout } from './elk';
import { type Layout, plainLayout } from './layout';

function fan(width: number): Workflow {
  const node = (id: string) => ({ id, type: 'log', parameters: {}, name: `Node ${id}` });
  const middle = Array.from({ length: width }, (_, index) => `m${index}`);
  return {
    nodes: [node('start'), ...middle.map(node), node('end')],
    edges: middle.flatMap((id) => [
      { id: `in-${id}`, src: 'start', dst: id, label: id },
      { id: `out-${id}`, src: id, dst: 'end' },
    ]),
  };
}

function overlaps(workflow: Workflow, layout: Layout): number {
  const boxes = graphOf(workflow).nodes.map(({ node, width }) => ({ width, ...(layout.nodes.get(node.id) ?? { x: 0, y: 0 }) }));
  let count = 0;
  boxes.forEach((a, index) => {
    for (const b of boxes.slice(index + 1)) {
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + NODE_HEIGHT <= b.y || b.y + NODE_HEIGHT <= a.y;
      if (!apart) count += 1;
    }
  });
  return count;
}

describe.each([
  ['ELK', async (workflow: Workflow) => readLayout(graphOf(workflow), await new ELK().layout(elkGraph(graphOf(workflow))))],
  ['the plain layout', async (workflow: Workflow) => plainLayout(graphOf(workflow))],
])('%s', (_, layoutOf) => {
  it.each([1, 3, 12])('places a fan of %i without overlaps, from left to right', async (width) => {
    const workflow = fan(width);
    const layout = await layoutOf(workflow);
    expect(overlaps(workflow, layout)).toBe(0);
    for (const { src, dst } of workflow.edges) {
      expect(layout.nodes.get(src)?.x).toBeLessThan(layout.nodes.get(dst)?.x ?? 0);
    }
    expect(layout.edges.size).toBe(workflow.edges.length);
  });
});

describe('plainLayout', () => {
  it('ends on a cycle', () => {
    const node = { type: 'log', parameters: {} };
    const cycle = { nodes: [{ id: 'a', ...node }, { id: 'b', ...node }], edges: [{ id: '1', src: 'a', dst: 'b' }, { id: '2', src: 'b', dst: 'a' }] };
    expect(plainLayout(graphOf(cycle)).nodes.size).toBe(2);
  });
});

describe('neighbour', () => {
  const graph = graphOf(fan(3));
  const layout = plainLayout(graph);

  it.each([
    ['start', 'right', 'm0'],
    ['m1', 'left', 'start'],
    ['m1', 'right', 'end'],
    ['m1', 'up', 'm0'],
    ['m1', 'down', 'm2'],
    ['start', 'left', null],
    ['end', 'right', null],
  ] as const)('from %s to the %s is %s', (from, direction, to) => {
    expect(neighbour(graph, layout, from, direction)).toBe(to);
  });
});

describe('routes', () => {
  it('round their corners and end in a head', () => {
    const points = [{ x: 0, y: 0 }, { x: 20, y: 0 }, { x: 20, y: 40 }];
    expect(routePath(points)).toBe('M0 0L11 0Q20 0 20 9L20 40');
    expect(arrowPath(points)).toBe('M13 35.5L19.5 40L13 44.5');
    expect(routePath([])).toBe('');
  });
});

describe('the first look', () => {
  it('shows all of a small graph, centred and not blown up', () => {
    expect(fitted({ x: 0, y: 0, width: 100, height: 100 }, 1_000, 600)).toEqual({ zoom: 1.25, x: 437.5, y: 243.5 });
  });

  it('shows the beginning of a long one, at a size that can be read', () => {
    const look = firstLook({ x: 0, y: 0, width: 20_000, height: 5_000 }, { x: 0, y: 2_000 }, 1_000, 600);
    expect(look.zoom).toBeGreaterThan(0.5);
    expect(2_000 * look.zoom + look.y).toBeGreaterThan(0);
    expect(2_000 * look.zoom + look.y).toBeLessThan(600);
  });
});

describe('a long line', () => {
  const node = (id: string) => ({ id, type: 'log', parameters: {} });
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const graph = graphOf({ nodes: ids.map(node), edges: ids.slice(1).map((id, index) => ({ id: `to-${id}`, src: ids[index] ?? '', dst: id })) });
  const placed = (points: [number, number][]) => points.map(([x, y], index) => ({ id: `n${index}`, x, y }));
  const layout = (name: string, points: [number, number][]) => readLayout(graph, { id: 'g', children: placed(points) }, name);
  const line = layout('', ids.map((_, index) => [index * 200, 0]));
  const two = layout(' two', ids.map((_, index) => [(index % 3) * 200, Math.floor(index / 3) * 120]));
  const three = layout(' three', ids.map((_, index) => [(index % 2) * 200, Math.floor(index / 2) * 120]));

  it('is one that might be small print, with empty ground around it', () => {
    expect(isLong({ width: 2_000, height: 200 })).toBe(true);
    expect(isLong({ width: 500, height: 100 })).toBe(false);
    expect(isLong({ width: 1_000, height: 900 })).toBe(false);
  });

  it('goes on below only where that is no tangle', () => {
    expect(isTangle(graph, { id: 'g', children: placed([[0, 0], [200, 0], [400, 0], [0, 99], [200, 99], [400, 99]]) })).toBe(false);
    expect(isTangle(graph, { id: 'g', children: placed([[5, 0], [4, 0], [3, 0], [2, 0], [1, 0], [0, 0]]) })).toBe(true);
  });

  it.each([
    [1_400, line],
    [760, two],
    [420, three],
  ])('is arranged for a canvas of %i', (width, best) => {
    expect(bestIn([line, two, three], graph, width)?.key).toBe(best.key);
  });

  it('stays a line where nobody knows how much room there is', () => {
    expect(bestIn([line, two], graph, 0)).toBe(line);
    expect(bestIn([], graph, 800)).toBeNull();
  });
});
