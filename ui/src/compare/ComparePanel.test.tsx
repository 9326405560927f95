import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ComparisonView, Request } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { WORKFLOW, detail, summary, view } from '../testing/fixtures';
import { CompareBar } from './CompareBar';
import { ComparePanel } from './ComparePanel';

const ANSWER: ComparisonView = {
  definition_changed: true,
  input: [{ path: '$.name', a: 'Ada', b: 'Grace' }],
  total: { equal: 1, changed: 1, only_a: 0, only_b: 1, slower: 2 },
  nodes: [],
  differences: [
    { node_id: 'greet', key: '', verdict: 'changed', position_a: 5, position_b: 5, changes: [{ path: 'output.text', a: 'Hello, Ada', b: 'Hello, Grace' }] },
    { node_id: 'sorry', key: '', verdict: 'only_b', position_a: null, position_b: 9, changes: [] },
  ],
  more: 4,
  slower: [
    { node_id: 'say', key: '', duration_a: 10, duration_b: 500 },
    { node_id: 'greet', key: '', duration_a: 10, duration_b: 60 },
  ],
};

function set(answer: ComparisonView | null): void {
  useStore.setState({ compared: { a: 'x0', b: 'x1', answer, definition: WORKFLOW, chosen: null } });
}

beforeEach(() => {
  const call = vi.fn(async (request: Request) => {
    if (request.type !== 'node_detail') throw new Error(request.type);
    const none = request.execution_id === 'x0' && request.node_id === 'sorry';
    const text = request.execution_id === 'x0' ? 'Hello, Ada' : 'Hello, Grace';
    const data = detail(request.node_id, { text });
    return { type: 'node_detail', data: none ? { ...data, firings: [], total: 0 } : data };
  });
  connect({ host: { mode: 'web', title: '', readOnly: false }, call: call as never, subscribe: () => () => undefined });
  useStore.setState({
    open: { type: 'execution', executionId: 'x1', view: view() },
    executions: [summary(), summary({ execution_id: 'x0', phase: 'failed', ended_at: 2_000 })],
  });
  set(ANSWER);
});

describe('CompareBar', () => {
  it('names both sides and what came of it, and goes to the first divergence', () => {
    render(<CompareBar />);
    const said = screen.getByTestId('compare-bar').textContent;
    expect(said).toContain('Changed 1');
    expect(said).toContain('Only in B 1');
    expect(said).toContain('different versions of the workflow');
    expect(said).toContain('Different inputs: $.name');
    fireEvent.click(screen.getByTestId('first-divergence'));
    expect(useStore.getState().selectedNode).toBe('greet');
    fireEvent.click(screen.getByTestId('compare-close'));
    expect(useStore.getState().compared).toBeNull();
  });
});

describe('ComparePanel', () => {
  it('lists differences in their order, and shows both sides of one', async () => {
    render(<ComparePanel />);
    expect(screen.getByTestId('first-difference').textContent).toContain('Greet');
    expect(screen.getByTestId('compare').textContent).toContain('4 more are not listed.');
    fireEvent.click(screen.getByTestId('first-difference'));
    expect((await screen.findByTestId('json-diff')).textContent).toContain('1 changed');
    expect(screen.getByText('"Hello, Grace"', { selector: '.json-row *' }).closest('.json-row')?.textContent).toContain('B');
  });

  it('shows what only one side has', async () => {
    render(<ComparePanel />);
    fireEvent.click(screen.getByText('Say sorry'));
    expect(await screen.findByText('Only B has this.', { exact: false })).toBeTruthy();
  });

  it('lists what took longer, the most first', () => {
    render(<ComparePanel />);
    fireEvent.click(screen.getByText('Slower in B (2)'));
    const rows = screen.getAllByRole('button').filter((row) => row.classList.contains('compare-slow'));
    expect(rows.map((row) => row.textContent)).toEqual([expect.stringContaining('+490 ms'), expect.stringContaining('+50 ms')]);
  });

  it('says calmly when both are equal', () => {
    set({ ...ANSWER, differences: [], more: 0 });
    render(<ComparePanel />);
    expect(screen.getByText('Both did the same')).toBeTruthy();
  });
});
