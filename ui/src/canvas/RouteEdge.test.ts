import { describe, expect, it } from 'vitest';
import type { EdgeView, NodeState } from '../generated/protocol';
import { INITIAL_STATE } from '../state/store';
import { nodeView, view } from '../testing/fixtures';
import { edgeLook } from './RouteEdge';

describe('edgeLook', () => {
  it.each<[EdgeView | null, NodeState, string]>([
    [null, 'idle', 'plain'],
    [{ messages: 0, skipped: false }, 'running', 'plain'],
    [{ messages: 1, skipped: false }, 'running', 'active'],
    [{ messages: 1, skipped: false }, 'success', 'taken'],
    [{ messages: 0, skipped: true }, 'skipped', 'skipped'],
    [{ messages: 2, skipped: true }, 'success', 'taken'],
  ])('of %j into a node that is %s is %s', (edge, state, look) => {
    const shown = view({ nodes: { greet: nodeView(state) }, edges: edge ? { a: edge } : {} });
    const open = { type: 'execution' as const, executionId: 'x1', view: shown };
    expect(edgeLook({ ...INITIAL_STATE, open }, 'a', 'greet')).toBe(look);
  });
});
