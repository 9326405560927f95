import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Update } from '../generated/protocol';
import { recording } from '../testing/fixtures';
import { type ProblemError, ask } from './bridge';
import { LEAD_IN_MILLIS, LONGEST_GAP_MILLIS, recordedBridge } from './recorded';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started() {
  const bridge = recordedBridge(recording(), 'Hello');
  const updates: Update[] = [];
  const stop = bridge.subscribe({ updates: (batch) => updates.push(...batch), connection: () => undefined });
  return { bridge, updates, stop };
}

describe('recordedBridge', () => {
  it('plays patches with their own timing and shortens long gaps', () => {
    const { updates } = started();
    vi.advanceTimersByTime(LEAD_IN_MILLIS);
    expect(updates).toHaveLength(1);
    vi.advanceTimersByTime(199);
    expect(updates).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(updates).toHaveLength(2);
    vi.advanceTimersByTime(LONGEST_GAP_MILLIS - 1);
    expect(updates).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(updates).toHaveLength(3);
  });

  it('stops when nobody listens', () => {
    const { updates, stop } = started();
    stop();
    vi.runAllTimers();
    expect(updates).toEqual([]);
  });

  it('answers with the picture of the moment', async () => {
    const { bridge } = started();
    vi.advanceTimersByTime(LEAD_IN_MILLIS);
    const view = await ask(bridge, { type: 'execution', execution_id: 'x1' });
    expect(view.nodes.start?.state).toBe('running');
    const snapshot = await ask(bridge, { type: 'snapshot' });
    expect(snapshot.executions).toHaveLength(1);
    expect(snapshot.workflows).toEqual([]);
  });

  it('shows details only of what has finished', async () => {
    const { bridge } = started();
    const question = { type: 'node_detail' as const, execution_id: 'x1', node_id: 'start' };
    expect((await ask(bridge, question)).total).toBe(0);
    vi.runAllTimers();
    expect((await ask(bridge, question)).total).toBe(1);
    expect((await ask(bridge, { ...question, node_id: 'constructor' })).total).toBe(0);
  });

  it.each([
    { type: 'run' as const, path: 'hello.json' },
    { type: 'cancel' as const, execution_id: 'x1' },
  ])('refuses to $type', async (request) => {
    const refused = await started().bridge.call(request).catch((error: ProblemError) => error.problem.code);
    expect(refused).toBe('read_only');
  });

  it('knows one execution', async () => {
    const question = started().bridge.call({ type: 'execution', execution_id: 'x9' });
    await expect(question).rejects.toMatchObject({ problem: { code: 'not_found' } });
  });
});
