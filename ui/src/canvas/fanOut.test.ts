import { describe, expect, it } from 'vitest';
import type { Workflow } from '../generated/protocol';
import { fannedOutNodes } from './fanOut';
import { graphOf } from './graph';

/** A chain of nodes that are named after their kinds, with a digit where a kind occurs twice. */
function chain(...ids: string[]): Workflow {
  return {
    nodes: ids.map((id) => ({ id, type: id.replace(/\d/, ''), parameters: {} })),
    edges: ids.slice(1).map((dst, index) => ({ id: dst, src: ids[index] ?? '', dst })),
  };
}

describe('fannedOutNodes', () => {
  it.each([
    ['nothing without a split', ['trigger', 'log'], []],
    ['what lies between split and aggregator', ['trigger', 'split', 'log', 'aggregator', 'edit'], ['log']],
    ['all behind a split that is never closed', ['split', 'log', 'edit'], ['log', 'edit']],
    ['the joins of a split in a split', ['split', 'split1', 'log', 'aggregator', 'edit', 'aggregator1'], ['split1', 'log', 'aggregator', 'edit']],
    ['what lies between the second pair, too', ['split', 'aggregator', 'split1', 'log', 'aggregator1'], ['log']],
  ])('finds %s', (_, ids, found) => expect([...fannedOutNodes(chain(...ids))].sort()).toEqual([...found].sort()));

  it('ends on a cycle', () => {
    const cycle = chain('split', 'log');
    cycle.edges.push({ id: 'back', src: 'log', dst: 'split' });
    expect(fannedOutNodes(cycle).size).toBe(2);
  });
});

describe('the width of a card', () => {
  it('has room for what appears while it runs, from the start', () => {
    const widths = new Map(graphOf(chain('trigger', 'split', 'log', 'aggregator')).nodes.map(({ node, width }) => [node.id, width]));
    expect(widths.get('trigger')).toBe(144);
    expect(widths.get('aggregator')).toBe(184);
    expect(widths.get('log')).toBe(208);
  });
});
