import { act, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Request, Response, TimerView, WaitBoard } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { cluster, view } from '../testing/fixtures';
import { WaitsPanel } from './WaitsPanel';

function timer(more: Partial<TimerView>): TimerView {
  return { execution_id: 'x1', title: 'Hello', node_id: 'greet', name: 'Greet', key: '', due: Date.now() + 61_000, set_at: 0, purpose: { type: 'rest' }, keeper: 'here', ...more };
}

function show(board: WaitBoard): () => Request[] {
  const requests: Request[] = [];
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request: Request): Promise<Response> => {
      requests.push(request);
      return Promise.resolve(request.type === 'waits' ? { type: 'waits', data: board } : { type: 'execution', data: view() });
    },
    subscribe: () => () => undefined,
  });
  useStore.setState({ ready: true });
  render(<WaitsPanel />);
  return () => requests;
}

// The clock stands still, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('WaitsPanel', () => {
  it('tells executions of the same name apart', async () => {
    show({ timers: [timer({}), timer({ execution_id: '0123456789abcdef', key: 'each=3' })], total: 2, queued: 0, working: true });
    const rows = (await screen.findAllByText('Hello')).map((each) => each.closest('.waits-where')?.textContent);
    expect(rows).toEqual(['Hellox1', 'Hello89abcdefeach=3']);
  });

  it('lists timers with a countdown, and what is overdue with the reason', async () => {
    const timers = [timer({ due: Date.now() - 12_000, name: 'Late one', key: 'each=3' }), timer({})];
    show({ timers, total: 2, queued: 3, working: true });
    expect((await screen.findByText('Late one')).closest('button')?.textContent).toContain('overdue 12 s');
    expect(screen.getByText('woken; 3 messages ahead of it in the queue')).toBeTruthy();
    expect(screen.getByText('Greet').closest('button')?.textContent).toMatch(/in 1 min [01] s/);
    expect(screen.getByText('each=3')).toBeTruthy();
  });

  it('goes by the clock of the cluster, and blames nobody while Redis cannot be read', async () => {
    const due = Date.now() + 3_600_000 - 12_000;
    show({ timers: [timer({ due, keeper: 'cluster', name: 'Theirs' }), timer({ due, name: 'Ours', node_id: 'say' })], total: 2, queued: 0, working: true });
    act(() => useStore.setState({ cluster: cluster({ ahead: 3_600_000 }) }));
    const row = (await screen.findByText('Theirs')).closest('button');
    expect(row?.textContent).toContain('overdue 12 s');
    expect(row?.textContent).toContain('due, and no worker has claimed it');
    expect(screen.getByText('Ours').closest('button')?.textContent).toContain('in 59 min');
    act(() => useStore.setState({ cluster: cluster({ ahead: 3_600_000, redis_as_of: 1 }) }));
    expect(row?.textContent).toContain('whether anybody has claimed it cannot be seen');
  });

  it('counts nothing down while something is held', async () => {
    const held = timer({ due: Date.now() - 12_000, purpose: { type: 'deadline', data: { arrived: 1, expected: 3, stands: true } } });
    show({ timers: [held], total: 1, queued: 0, working: true });
    const row = (await screen.findByText('Greet')).closest('button');
    expect(row?.textContent).toContain('stands still');
    expect(row?.textContent).toContain('would give up with 1 of 3');
    expect(row?.textContent).not.toContain('overdue');
  });

  it('leads to the node that waits', async () => {
    show({ timers: [timer({})], total: 1, queued: 0, working: true });
    fireEvent.click(await screen.findByText('Greet'));
    await vi.waitFor(() => expect(useStore.getState().selectedNode).toBe('greet'));
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x1' });
  });

  it('fires a timer by hand, and nothing in a recording', async () => {
    const asked = show({ timers: [timer({ key: 'each=3' })], total: 1, queued: 0, working: true });
    fireEvent.click(await screen.findByTestId('fire-greet'));
    expect(asked()).toContainEqual({ type: 'control', execution_id: 'x1', command: { type: 'fire_timer', node_id: 'greet', key: 'each=3' } });
    act(() => useStore.setState({ host: { mode: 'replay', title: '', readOnly: true } }));
    expect(screen.queryByTestId('fire-greet')).toBeNull();
  });

  it('jumps to the next timer of what is shown', async () => {
    const asked = show({ timers: [timer({})], total: 1, queued: 0, working: true });
    await screen.findByText('Greet');
    expect(screen.queryByTestId('next-timer')).toBeNull();
    act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view() } }));
    fireEvent.click(screen.getByTestId('next-timer'));
    expect(asked()).toContainEqual({ type: 'control', execution_id: 'x1', command: { type: 'next_timer' } });
  });

  it('puts what is lost first, with its own word and the reason, and counts nothing down', async () => {
    const timers = [timer({ due: Date.now() - 45_000, name: 'Late one', keeper: 'cluster' }), timer({ due: Date.now() - 30_000, name: 'Lost one', node_id: 'lost', keeper: 'nobody' })];
    show({ timers, total: 2, queued: 3, working: false });
    await screen.findByText('Lost one');
    const [first, second] = screen.getAllByRole('listitem').map((row) => row.textContent ?? '');
    expect(first).toMatch(/^lost.*Lost one.*its timer was claimed and what it should have resumed was never sent/);
    expect(first).not.toMatch(/overdue|goes on/);
    expect(document.querySelector('.state-lost svg path')).toBeTruthy();
    expect(second).toMatch(/overdue 45 s.*due, and no worker has claimed it/);
  });

  it('offers to fire only what is kept here', async () => {
    const timers = [timer({ node_id: 'lost', keeper: 'nobody' }), timer({ node_id: 'there', keeper: 'cluster' })];
    show({ timers, total: 2, queued: 0, working: true });
    await screen.findAllByText('Greet');
    act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view() } }));
    for (const absent of ['fire-lost', 'fire-there', 'next-timer']) expect(screen.queryByTestId(absent)).toBeNull();
    expect(screen.queryByText('Fire now')).toBeNull();
  });

  it('says what would appear when nothing waits', async () => {
    show({ timers: [], total: 0, queued: 0, working: true });
    expect(await screen.findByText('Nothing waits for a moment')).toBeTruthy();
  });
});
