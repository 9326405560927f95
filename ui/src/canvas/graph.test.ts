import { describe, expect, it } from 'vitest';
import type { Workflow } from '../generated/protocol';
import { WORKFLOW } from '../testing/fixtures';
import { graphOf, titleWidth } from './graph';

describe('titleWidth', () => {
  // As Chromium measures them in DejaVu Sans, 13 px, weight 600.
  it.each([
    ['Each customer', 107.8],
    ['Compose sentence', 138],
    ['Confirm to customer', 150.1],
    ['Price the order', 110.1],
    ['Weighs something?', 143],
    ['Order received', 109.3],
    ['An old answer', 104.1],
    ['First of the month', 133.4],
  ])('has room for %s, and not much more', (title, measured) => {
    expect(titleWidth(title)).toBeGreaterThanOrEqual(measured);
    expect(titleWidth(title)).toBeLessThan(measured * 1.06);
  });
});

describe('graphOf', () => {
  it('names error edges and labels them', () => {
    const { edges } = graphOf(WORKFLOW);
    expect(edges.map(({ label, isError }) => [label, isError])).toEqual([
      ['', false],
      ['then', false],
      ['on error', true],
    ]);
  });

  it('knows which edges lead into a race', () => {
    const races = { ...WORKFLOW, nodes: WORKFLOW.nodes.map((node) => (node.id === 'say' ? { ...node, type: 'merge', parameters: { wait_mode: 'wait_for_any' } } : node)) };
    expect(graphOf(races).edges.map((edge) => edge.races)).toEqual([false, true, false]);
    expect(graphOf(races).key).not.toBe(graphOf(WORKFLOW).key);
  });

  it('leaves out what cannot be drawn', () => {
    const node = { type: 'log', parameters: {} };
    const wrong: Workflow = {
      nodes: [{ id: 'a', ...node }, { id: 'a', ...node }, { id: 'b', ...node }],
      edges: [
        { id: '1', src: 'a', dst: 'b' },
        { id: '1', src: 'a', dst: 'b' },
        { id: '2', src: 'a', dst: 'nowhere' },
        { id: '3', src: 'b', dst: 'b' },
      ],
    };
    const graph = graphOf(wrong);
    expect(graph.nodes).toHaveLength(2);
    expect(graph.edges.map(({ edge }) => edge.id)).toEqual(['1']);
  });

  it('keeps its key while only parameters change, and changes it with an edge', () => {
    const other = { ...WORKFLOW, nodes: WORKFLOW.nodes.map((node) => ({ ...node, parameters: { x: 1 } })) };
    expect(graphOf(other).key).toBe(graphOf(WORKFLOW).key);
    expect(graphOf({ ...WORKFLOW, edges: WORKFLOW.edges.slice(1) }).key).not.toBe(graphOf(WORKFLOW).key);
  });
});
