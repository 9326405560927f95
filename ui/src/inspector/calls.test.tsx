/** What the inspector says of nodes that call the outside: attempts, dead letters, answers, credentials. */
import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FailedAttempt, FiringView, Node, NodeDetail } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { WORKFLOW, detail, entry, nodeView, view } from '../testing/fixtures';
import { Inspector } from './Inspector';

const NOW = 1_700_000_000_000;
const refused = { message: '127.0.0.1:9 cannot be reached', code: 'CONNECTION_FAILED' as const };
const ASK: Node = { id: 'ask', type: 'http', parameters: { url: 'http://127.0.0.1:9' } };

const failure = (attempt: number): FailedAttempt => ({
  attempt,
  at: NOW + attempt * 2_000,
  duration_ms: 12,
  error: refused,
  tried_again_at: NOW + (attempt + 1) * 2_000,
});

beforeEach(() => void vi.useFakeTimers({ now: NOW + 2_500 }));
afterEach(() => void vi.useRealTimers());

async function show(more: Partial<FiringView>, node: Node = ASK, output: unknown = null): Promise<void> {
  const [firing] = detail('ask', output).firings;
  if (!firing) throw new Error('The fixture has no firing.');
  const answer: NodeDetail = { execution_id: 'x1', node_id: 'ask', total: 1, firings: [{ ...firing, ...more }] };
  connect({ host: { mode: 'web', title: '', readOnly: false }, call: async () => ({ type: 'node_detail', data: answer }), subscribe: () => () => undefined });
  const state = more.state ?? 'success';
  const shown = view({ definition: { nodes: [node], edges: [] }, nodes: { ask: nodeView(state, { retrying: state === 'waiting_timer' ? 1 : 0 }) } });
  useStore.setState({ open: { type: 'execution', executionId: 'x1', view: shown }, selectedNode: 'ask' });
  render(<Inspector />);
  await act(() => vi.advanceTimersByTimeAsync(0));
}

describe('failed attempts', () => {
  it('are listed with when, how long, why and when it was tried again', async () => {
    await show({ attempt: 3, failures: [failure(1), failure(2)], state: 'failed', output: null, error: refused });
    const items = within(screen.getByTestId('failed-attempts')).getAllByRole('listitem');
    expect(items).toHaveLength(2);
    expect(items[0]?.textContent).toMatch(/^Attempt 1\d\d:\d\d:\d\d\.000took 12 ms127\.0\.0\.1:9 cannot be reachedNo connectiontried again at \d\d:\d\d:\d\d\.000$/);
    expect(screen.getByTestId('tab-error').getAttribute('aria-selected')).toBe('true');
  });

  it('count down to the next one', async () => {
    await show({ failures: [failure(1)], state: 'waiting_timer', output: null });
    expect(screen.getByTestId('failed-attempts').textContent).toContain('tries again in 1 s · attempt 2');
    expect(screen.getByText('Tries again')).toBeTruthy();
    fireEvent.click(screen.getByTestId('tab-output'));
    expect(screen.getByText(/is tried again/)).toBeTruthy();
  });

  it('are absent where the first one did it', async () => {
    await show({});
    expect(screen.queryByTestId('failed-attempts')).toBeNull();
  });
});

describe('a dead letter', () => {
  it('says that the house gave up', async () => {
    const error = { message: 'given up after 4 attempts: no keychain', code: 'RETRIES_USED_UP' as const, details: { attempts: 4, reason: {} } };
    await show({ state: 'failed', output: null, error, attempt: 4 });
    expect(screen.getByTestId('dead-letter').textContent).toBe('Given up by the house after 4 attempts; kept as a dead letter.');
    expect(screen.getByText('Given up after 4 attempts: no keychain')).toBeTruthy();
  });

  it('is not what a node makes that fails by itself', async () => {
    await show({ state: 'failed', output: null, error: refused });
    expect(screen.queryByTestId('dead-letter')).toBeNull();
    expect(screen.getByText('No connection')).toBeTruthy();
  });
});

describe('an answer', () => {
  const output = { status: 503, status_text: '503 Service Unavailable', body: 'later', headers: {}, duration_ms: 34 };

  it('begins with status, duration and size', async () => {
    await show({}, ASK, output);
    expect(screen.getByTestId('http-line').textContent).toBe('503 Service Unavailable34 ms5 B body');
    expect(screen.getByTestId('http-line').querySelector('.state-icon.state-failed')).toBeTruthy();
  });

  it('is of http nodes alone', async () => {
    await show({}, { ...ASK, type: 'edit' }, output);
    expect(screen.queryByTestId('http-line')).toBeNull();
  });
});

describe('credentials', () => {
  const written = { ref: 'mail', password: 'hunter2' };

  it('are shown by name alone', async () => {
    await show({}, { ...ASK, credentials: written });
    expect(screen.getByTestId('credential').textContent).toBe('Credential mailIts value is looked up when the call is made, and is never recorded.');
  });

  it.each([
    [{ name: 'Mail', id: '7', type: 'smtp' }, 'Mail'],
    [{ id: '7' }, '7'],
    [{}, 'unnamed'],
  ])('%j go by %s', async (credentials, name) => {
    await show({}, { ...ASK, credentials });
    expect(within(screen.getByTestId('credential')).getByText(name)).toBeTruthy();
  });

  it('stay out of the definition, whatever the file says', () => {
    const definition = { ...WORKFLOW, nodes: [{ ...ASK, credentials: written }] };
    useStore.setState({ workflows: [entry({ definition })], open: { type: 'workflow', path: 'hello.json' }, selectedNode: 'ask' });
    render(<Inspector />);
    fireEvent.click(screen.getByTestId('tab-definition'));
    expect(screen.getByText('"mail"')).toBeTruthy();
    expect(document.body.textContent).not.toContain('hunter2');
  });
});
