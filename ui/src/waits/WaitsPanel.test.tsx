import { fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Request, Response, TimerView, WaitBoard } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { view } from '../testing/fixtures';
import { WaitsPanel } from './WaitsPanel';

function timer(more: Partial<TimerView>): TimerView {
  return { execution_id: 'x1', title: 'Hello', node_id: 'greet', name: 'Greet', key: '', due: Date.now() + 61_000, set_at: 0, purpose: { type: 'rest' }, ...more };
}

function show(board: WaitBoard): void {
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request: Request): Promise<Response> =>
      Promise.resolve(request.type === 'waits' ? { type: 'waits', data: board } : { type: 'execution', data: view() }),
    subscribe: () => () => undefined,
  });
  useStore.setState({ ready: true });
  render(<WaitsPanel />);
}

// The clock stands still, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

describe('WaitsPanel', () => {
  it('lists timers with a countdown, and what is overdue with the reason', async () => {
    const timers = [timer({ due: Date.now() - 12_000, name: 'Late one', key: 'each=3' }), timer({})];
    show({ timers, total: 2, queued: 3, working: true });
    expect((await screen.findByText('Late one')).closest('button')?.textContent).toContain('overdue 12 s');
    expect(screen.getByText('woken; 3 messages ahead of it in the queue')).toBeTruthy();
    expect(screen.getByText('Greet').closest('button')?.textContent).toMatch(/in 1 min [01] s/);
    expect(screen.getByText('each=3')).toBeTruthy();
  });

  it('leads to the node that waits', async () => {
    show({ timers: [timer({})], total: 1, queued: 0, working: true });
    fireEvent.click(await screen.findByText('Greet'));
    await vi.waitFor(() => expect(useStore.getState().selectedNode).toBe('greet'));
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x1' });
  });

  it('says what would appear when nothing waits', async () => {
    show({ timers: [], total: 0, queued: 0, working: true });
    expect(await screen.findByText('Nothing waits for a moment')).toBeTruthy();
  });
});
