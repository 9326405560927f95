import { describe, expect, it } from 'vitest';
import { controlView, held, view } from '../testing/fixtures';
import { NO_CONTROL } from './controlState';
import { edgeMarks, heldHere, markOf, nodeMarks } from './controlMarks';
import { INITIAL_STATE, type State } from './store';

function state(more: Partial<State['control']>, rest: Partial<State> = {}): State {
  return { ...INITIAL_STATE, control: { ...NO_CONTROL, ...more }, ...rest };
}

describe('marks of the graph', () => {
  it('tell breakpoints by side, and edges', () => {
    const now = state({
      controls: {
        breakpoints: [{ place: { type: 'before', node_id: 'greet' } }, { place: { type: 'error', node_id: 'greet' }, disabled: true }, { place: { type: 'edge', edge_id: 'a' }, log: 'x' }],
        mocks: [{ node_id: 'say', answer: { type: 'error', message: 'no' } }],
      },
    });
    expect(nodeMarks(now, 'greet')).toMatchObject({ before: { state: 'set', look: 'plain' }, after: { state: 'disabled' } });
    expect(edgeMarks(now, 'a').mark).toMatchObject({ state: 'set', look: 'log' });
    expect(nodeMarks(now, 'say').mock).toBe('error');
    expect(nodeMarks(now, 'start').before).toBeNull();
  });

  it('count what is held, also beyond what is listed', () => {
    const now = state({ view: controlView([held()], { held_at: [{ node_id: 'greet', gate: 'before', count: 9_000 }], stale: [{ node_id: 'say', because: 'greet', removed: true }], paused_nodes: ['sorry'] }) });
    expect(heldHere(nodeMarks(now, 'greet'))).toBe(9_000);
    expect(nodeMarks(now, 'say').stale).toEqual({ node_id: 'say', because: 'greet', removed: true });
    expect(nodeMarks(now, 'sorry').paused).toBe(true);
  });

  it('say nothing of what is held while a moment of the past is shown', () => {
    const past = { view: view(), at: 1, last: 2 };
    const now = state({ view: controlView([held()]) }, { past: past as State['past'] });
    expect(heldHere(nodeMarks(now, 'greet'))).toBe(0);
  });

  it('stay the same object while they say the same', () => {
    const controls = { breakpoints: [{ place: { type: 'before' as const, node_id: 'greet' } }], mocks: [] };
    const before = nodeMarks(state({ controls, view: controlView() }), 'greet');
    expect(nodeMarks(state({ controls, view: controlView([held({ node_id: 'say' })]) }), 'greet')).toBe(before);
  });

  it('find the held ones on their edge, and the broken condition', () => {
    const breakpoints = [{ place: { type: 'edge' as const, edge_id: 'b' } }, { place: { type: 'before' as const, node_id: 'say' }, condition: 'oops(' }];
    const messages = [held({ gate: 'after' }), held({ message_id: 'm2', node_id: 'say', why: { type: 'broken_condition', index: 1, complaint: 'no such thing' } })];
    const now = state({ controls: { breakpoints, mocks: [] }, view: controlView(messages) });
    expect(edgeMarks(now, 'b').held).toBe(1);
    expect(nodeMarks(now, 'say').before).toEqual({ state: 'set', look: 'condition', broken: true });
  });

  it('a hit count is a condition', () => expect(markOf({ place: { type: 'error' }, hits: 2 }, false).look).toBe('condition'));
});
