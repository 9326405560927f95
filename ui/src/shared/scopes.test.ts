import { describe, expect, it } from 'vitest';
import type { Workflow } from '../generated/protocol';
import { scopeOf, scopesOf, splitsOf } from './scopes';

function workflow(kinds: { [id: string]: string }, edges: string): Workflow {
  return {
    nodes: Object.entries(kinds).map(([id, type]) => ({ id, type, parameters: {} })),
    edges: edges.split(' ').map((edge) => ({ id: edge, src: edge.split('>')[0] ?? '', dst: edge.split('>')[1] ?? '' })),
  };
}

describe('scopesOf', () => {
  it('names the splits around a node, outermost first', () => {
    const nested = workflow(
      { t: 'trigger', x: 'split', y: 'split', e: 'log', b: 'aggregator', f: 'log', a: 'aggregator', z: 'log' },
      't>x x>y y>e e>b b>f f>a a>z',
    );
    expect(Object.fromEntries(scopesOf(nested))).toEqual({ y: ['x'], e: ['x', 'y'], b: ['x'], f: ['x'] });
    expect(scopeOf(nested, 'z')).toEqual([]);
    expect(splitsOf(nested)).toEqual(['x', 'y']);
  });

  it('knows the kinds of data edges, and that pieces are gathered with what is around them', () => {
    const bill = workflow(
      { t: 'trigger', c: 'for_each', l: 'lines', p: 'log', s: 'collect', z: 'zip', f: 'log' },
      't>c c>l l>p p>s s>z z>f',
    );
    expect(Object.fromEntries(scopesOf(bill))).toEqual({ l: ['c'], p: ['c', 'l'], f: ['z'] });
  });

  it('ends on a cycle around a split', () => {
    const cycle = workflow({ s: 'split', e: 'log' }, 's>e e>s');
    expect(scopeOf(cycle, 'e').length).toBeLessThan(20);
  });
});
