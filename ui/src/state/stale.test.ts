import { describe, expect, it } from 'vitest';
import type { Mock } from '../generated/protocol';
import { view } from '../testing/fixtures';
import { staleReason } from './stale';
import { type State, useStore } from './store';

const stateWith = (...mocks: Mock[]): State => {
  const state = useStore.getState();
  return { ...state, open: { type: 'execution', executionId: 'x1', view: view() }, control: { ...state.control, controls: { breakpoints: [], mocks } } };
};

describe('staleReason', () => {
  it('names the node whose pin was removed', () => {
    expect(staleReason(stateWith(), { node_id: 'say', because: 'greet', removed: true })).toBe(
      'Stale: since this execution began, “Greet” is not pinned or mocked any more. Run again to see what it gives now.',
    );
  });

  it('speaks of the node itself where the pin was its own', () => {
    expect(staleReason(stateWith(), { node_id: 'greet', because: 'greet', removed: true })).toContain('it is not pinned or mocked any more');
  });

  it.each([
    [{ type: 'output', value: 1 } as const, 'was pinned'],
    [{ type: 'error', message: 'no' } as const, 'was made to fail'],
    [{ type: 'latency', millis: 5 } as const, 'was made to take longer'],
  ])('says what was set: %j', (answer, words) => {
    const state = stateWith({ node_id: 'greet', answer });
    expect(staleReason(state, { node_id: 'say', because: 'greet', removed: false })).toContain(`“Greet” ${words}`);
  });
});
