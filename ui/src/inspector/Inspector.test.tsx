import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FiringView, NodeDetail, NodeState, NodeView } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { NO_COUNTS, WORKFLOW, cluster, detail, entry, nodeView, view } from '../testing/fixtures';
import { Inspector } from './Inspector';
import { THROTTLE_MILLIS } from './useNodeDetail';

let answer: NodeDetail;
const call = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  answer = detail('greet', { text: 'Hello, Ada' });
  call.mockReset();
  call.mockImplementation(async () => ({ type: 'node_detail', data: answer }));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
});
afterEach(() => void vi.useRealTimers());

const wait = (millis: number) => act(() => vi.advanceTimersByTimeAsync(millis));

function change(state: 'running' | 'success' | 'failed'): void {
  act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet: nodeView(state) } }) } }));
}

async function show(state: 'running' | 'success' | 'failed' = 'success'): Promise<void> {
  useStore.setState({ workflows: [entry()], selectedNode: 'greet' });
  change(state);
  render(<Inspector />);
  await wait(0);
}

async function showNode(greet: NodeView): Promise<void> {
  await show();
  act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet } }) } }));
  await wait(THROTTLE_MILLIS);
}

const factsOf = (name: string) => screen.getByText(name).nextElementSibling?.textContent;

describe('Inspector', () => {
  it('shows the words of the author before anything has run', () => {
    useStore.setState({ workflows: [entry()], open: { type: 'workflow', path: 'hello.json' }, selectedNode: 'greet' });
    render(<Inspector />);
    expect(screen.getByText('"Hello, {{ $trigger.name }}"')).toBeTruthy();
    expect(call).not.toHaveBeenCalled();
  });

  it('starts with the output and offers input and parameters', async () => {
    await show();
    expect(screen.getByText('"Hello, Ada"')).toBeTruthy();
    fireEvent.click(screen.getByTestId('tab-input'));
    expect(screen.getByText('$trigger.name')).toBeTruthy();
    fireEvent.click(screen.getByText('Everything it saw'));
    expect(screen.getByText('$trigger')).toBeTruthy();
    fireEvent.click(screen.getByTestId('tab-parameters'));
    expect(screen.getByText('"Hello, Ada"')).toBeTruthy();
    fireEvent.click(screen.getByText('As written'));
    expect(screen.getByText('"Hello, {{ $trigger.name }}"')).toBeTruthy();
    expect(screen.queryByTestId('tab-error')).toBeNull();
  });

  it('offers what was written only where something was', async () => {
    const bare = { ...WORKFLOW, nodes: WORKFLOW.nodes.map((node) => ({ ...node, parameters: {} })) };
    await show();
    act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ definition: bare, nodes: { greet: nodeView('success') } }) } }));
    fireEvent.click(screen.getByTestId('tab-parameters'));
    expect(screen.getByText('"Hello, Ada"')).toBeTruthy();
    for (const word of ['Resolved', 'As written', 'Filled in', 'No parameters']) expect(screen.queryByText(word)).toBeNull();
  });

  it('starts with the error where there is one', async () => {
    const [firing] = answer.firings;
    if (!firing) throw new Error('The fixture has no firing.');
    const error = { message: 'It broke.', code: 'SIMULATED_FAILURE' as const };
    answer = { ...answer, firings: [{ ...firing, state: 'failed', output: null, error }] };
    await show('failed');
    expect(screen.getByText('It broke.')).toBeTruthy();
    expect(screen.getByTestId('tab-error').getAttribute('aria-selected')).toBe('true');
  });

  it('lets a firing be picked', async () => {
    const [firing] = answer.firings;
    if (!firing) throw new Error('The fixture has no firing.');
    const other = { ...firing, message_id: 'm2', key: 'split=1', output: { type: 'whole' as const, data: { json: 'second', bytes: 8 } } };
    answer = { ...answer, firings: [firing, other], total: 40 };
    await show();
    expect(screen.getByText('38 older ones are not listed.')).toBeTruthy();
    fireEvent.change(screen.getByRole('combobox'), { target: { value: 'm2' } });
    expect(screen.getByText('"second"')).toBeTruthy();
  });

  it('lists two hundred of a thousand firings by state and item', async () => {
    const [firing] = answer.firings;
    if (!firing) throw new Error('The fixture has no firing.');
    const item = (index: number, state: NodeState): FiringView => ({
      ...firing,
      message_id: `m${index}`,
      key: `split=${index}`,
      lineage: [{ split_node_id: 'split', branch_id: 'b', item_index: index, total_items: 1_000 }],
      state,
      duration_ms: null,
    });
    const newestFirst = Array.from({ length: 200 }, (_, back) => item(999 - back, back % 100 === 0 ? 'failed' : 'waiting_timer'));
    answer = { ...answer, firings: newestFirst, total: 1_000 };
    await show();
    const options = screen.getAllByRole<HTMLOptionElement>('option');
    expect(options).toHaveLength(200);
    expect(options.slice(0, 3).map((option) => option.textContent)).toEqual(['split=899 · failed', 'split=999 · failed', 'split=800 · waiting']);
    expect(screen.getAllByRole<HTMLOptGroupElement>('group').map((group) => group.label)).toEqual(['Failed (2)', 'Waiting (198)']);
    expect(screen.getByRole<HTMLSelectElement>('combobox').value).toBe('m999');
    expect(screen.getByText('of 1,000')).toBeTruthy();
    expect(screen.getByText('800 older ones are not listed.')).toBeTruthy();
  });

  it('counts down to the next timer of the node', async () => {
    await showNode(nodeView('waiting_timer', { due: Date.now() + 12_000, counts: { ...NO_COUNTS, waiting: 2, success: 1 } }));
    expect(factsOf('Next due')).toContain('in 12 s');
    await wait(1_000);
    expect(factsOf('Next due')).toContain('in 11 s');
    expect(screen.getByRole('img', { name: '2 waiting, 1 done of 3' })).toBeTruthy();
  });

  it('says what has arrived at a join that has not started yet', async () => {
    answer = { ...answer, firings: [], total: 0 };
    await showNode(nodeView('waiting_barrier', { progress: { arrived: 450, expected: 1_000 } }));
    expect(factsOf('Arrived')).toBe('450 / 1,000');
    fireEvent.click(screen.getByTestId('tab-output'));
    expect(screen.getByText('Still gathering')).toBeTruthy();
  });

  it('has no tab for parameters where the node has none', () => {
    useStore.setState({ workflows: [entry()], open: { type: 'workflow', path: 'hello.json' }, selectedNode: 'start' });
    render(<Inspector />);
    expect(screen.queryByTestId('tab-parameters')).toBeNull();
    expect(screen.getByTestId('tab-definition').getAttribute('aria-selected')).toBe('true');
  });

  it('says first why a join has not started yet', async () => {
    answer = { ...answer, firings: [], total: 0 };
    useStore.setState({ workflows: [entry()], selectedNode: 'greet', open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet: nodeView('waiting_barrier') } }) } });
    render(<Inspector why={(nodeId) => <p>why {nodeId}</p>} />);
    await wait(0);
    expect(screen.getByText('why greet')).toBeTruthy();
  });

  it('says nothing of timers and joins where there are none', async () => {
    await show();
    expect(screen.queryByLabelText('All firings')).toBeNull();
  });

  it('says the true size of a payload that was cut', async () => {
    const [firing] = answer.firings;
    if (!firing) throw new Error('The fixture has no firing.');
    answer = { ...answer, firings: [{ ...firing, output: { type: 'cut', data: { text: '{"a":', bytes: 5_000_000 } } }] };
    await show();
    expect(screen.getByRole('note').textContent).toContain('5.0 MB in all, the first 5 B');
  });

  it('asks again when the node changes, but not more often than one can read', async () => {
    await show('running');
    expect(call).toHaveBeenCalledTimes(1);
    change('failed');
    change('running');
    change('success');
    await wait(0);
    expect(call).toHaveBeenCalledTimes(1);
    await wait(THROTTLE_MILLIS);
    expect(call).toHaveBeenCalledTimes(2);
    await wait(10 * THROTTLE_MILLIS);
    expect(call).toHaveBeenCalledTimes(2);
  });

  it('tells when the host cannot say', async () => {
    call.mockRejectedValue({ code: 'not_found', message: 'There is no such node.', hint: 'Reload.' });
    await show();
    expect(screen.getByText('There is no such node.')).toBeTruthy();
  });

  it('walks its tabs with the arrows', async () => {
    await show();
    fireEvent.keyDown(screen.getByRole('tablist'), { key: 'ArrowLeft' });
    expect(screen.getByTestId('tab-input').getAttribute('aria-selected')).toBe('true');
  });

  it('says of an execution what was found wrong with it on its cluster', async () => {
    const finding = (execution_id: string, sentence: string) => ({ rule: 'lost_resume' as const, since: 0, execution_id, sentence, evidence: [], advice: '' });
    await show();
    expect(screen.queryByTestId('overview-wrong')).toBeNull();
    act(() => useStore.setState({ selectedNode: null, cluster: cluster({ findings: [finding('x1', 'Rest will never go on'), finding('x2', 'something else')] }) }));
    expect(screen.getByTestId('overview-wrong').textContent).toBe('Rest will never go on.');
  });

  it('says why a wait is lost in place of when it was due', async () => {
    const lost = { rule: 'lost_resume' as const, since: 0, execution_id: 'x1', node_id: 'greet', sentence: '', evidence: [], advice: '' };
    useStore.setState({ cluster: cluster({ findings: [lost] }) });
    await showNode(nodeView('waiting_timer', { due: Date.now() - 60_000, counts: { ...NO_COUNTS, waiting: 1 } }));
    expect(screen.getByTestId('lost-reason').textContent).toBe('Its timer was claimed and what it should have resumed was never sent.');
    expect(document.querySelector('.heading .state-lost')?.textContent).toBe('Lost');
    expect(screen.queryByText('Due')).toBeNull();
    expect(screen.queryByText('Waiting')).toBeNull();
    act(() => useStore.setState({ cluster: null }));
    expect(factsOf('Due')).toContain('overdue');
  });
});
