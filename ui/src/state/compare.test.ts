import { describe, expect, it } from 'vitest';
import type { CompareCounts, ComparisonView } from '../generated/protocol';
import { WORKFLOW, summary, view } from '../testing/fixtures';
import { chooseDifference, union, verdictAt, verdictOf } from './compare';
import { openWorkflow, useStore } from './store';

const counts = (more: Partial<CompareCounts>): CompareCounts => ({ equal: 0, changed: 0, only_a: 0, only_b: 0, slower: 0, ...more });

const COMPARISON: ComparisonView = {
  definition_changed: false,
  input: [],
  total: counts({ equal: 1, changed: 1 }),
  nodes: [
    ['start', counts({ equal: 1 })],
    ['greet', counts({ changed: 1 })],
  ],
  differences: [{ node_id: 'greet', key: '', verdict: 'changed', position_a: 5, position_b: 5, changes: [{ path: 'output.text', a: 'Hello', b: 'Hi' }] }],
  more: 0,
  slower: [],
};

describe('verdictOf', () => {
  it.each([
    [undefined, 'neither'],
    [counts({ equal: 3 }), 'equal'],
    [counts({ equal: 3, slower: 1 }), 'slower'],
    [counts({ equal: 3, changed: 1, slower: 1 }), 'changed'],
    [counts({ only_a: 2 }), 'only_a'],
    [counts({ only_b: 2 }), 'only_b'],
    // Some of its items ran on one side only: the node itself ran on both.
    [counts({ equal: 1, only_b: 2 }), 'changed'],
    [counts({ only_a: 1, only_b: 2 }), 'changed'],
  ])('%j is %s', (given, verdict) => {
    expect(verdictOf(given)).toBe(verdict);
  });
});

describe('a comparison', () => {
  const compared = { a: 'x0', b: 'x1', answer: COMPARISON, definition: WORKFLOW, chosen: null };
  const open = { type: 'execution' as const, executionId: 'x1', view: view({ summary: summary() }) };

  it('says what became of each node', () => {
    useStore.setState({ open, compared });
    const state = useStore.getState();
    expect(['start', 'greet', 'say'].map((id) => verdictAt(state, id))).toEqual(['equal', 'changed', 'neither']);
  });

  it('leads to the node of a difference', () => {
    useStore.setState({ open, compared });
    chooseDifference(0);
    expect(useStore.getState().selectedNode).toBe('greet');
    expect(useStore.getState().compared?.chosen).toBe(0);
  });

  it('is over when something else is opened', () => {
    useStore.setState({ open, compared });
    openWorkflow('hello.json');
    expect(useStore.getState().compared).toBeNull();
  });

  it('draws the nodes and ways of both', () => {
    const node = { id: 'extra', type: 'log', parameters: {} };
    const older = { ...WORKFLOW, nodes: [...WORKFLOW.nodes, node], edges: [...WORKFLOW.edges, { id: 'a', src: 'greet', dst: 'extra' }] };
    const both = union(older, WORKFLOW);
    expect(both.nodes.map(({ id }) => id)).toEqual(['start', 'greet', 'say', 'sorry', 'extra']);
    // Its id is taken in the other graph by another way.
    expect(both.edges.at(-1)).toEqual({ id: 'a of A', src: 'greet', dst: 'extra' });
  });
});
