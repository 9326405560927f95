import { describe, expect, it } from 'vitest';
import type { Finding, NodeView } from '../generated/protocol';
import { NO_COUNTS, cluster, nodeView, view } from '../testing/fixtures';
import { isLostPart, lostAt, lostNodes } from './lostWaits';
import { INITIAL_STATE, type State } from './store';

const lost = (more: Partial<Finding> = {}): Finding => ({ rule: 'lost_resume', since: 0, execution_id: 'x1', node_id: 'greet', sentence: '', evidence: [], advice: '', ...more });

function state(greet: NodeView, findings: Finding[], more: Partial<State> = {}): State {
  return { ...INITIAL_STATE, cluster: cluster({ findings }), open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet } }) }, ...more };
}

const waiting = (count: number, more: Partial<NodeView> = {}): NodeView => nodeView('waiting_timer', { counts: { ...NO_COUNTS, waiting: count }, ...more });

describe('waits that are lost', () => {
  it('are counted per node of the open execution', () => {
    const found = [lost({ key: 'each=1' }), lost({ key: 'each=2' }), lost({ key: 'each=3', execution_id: 'x2' }), lost({ key: 'each=4', rule: 'overdue_timer' })];
    expect(lostAt(state(waiting(2), found), 'greet')).toBe('all');
    expect(lostAt(state(waiting(3), found), 'greet')).toBe('2');
    expect(lostAt(state(waiting(3), found), 'say')).toBe('');
    expect([lostNodes(state(waiting(2), found)), lostNodes(state(waiting(3), found))]).toEqual(['greet', '']);
  });

  it('are not all there is where something else goes on', () => {
    expect(lostAt(state(waiting(1, { state: 'running' }), [lost()]), 'greet')).toBe('1');
  });

  it('are none in the past, without a cluster, and where nothing waits any more', () => {
    const now = state(waiting(1), [lost()]);
    expect(lostAt(now, 'greet')).toBe('all');
    expect(lostAt({ ...now, past: { view: view() } as State['past'] }, 'greet')).toBe('');
    expect(lostAt({ ...now, cluster: null }, 'greet')).toBe('');
    expect(lostAt(state(nodeView('success'), [lost()]), 'greet')).toBe('');
  });

  it('are at least so many where not all are listed', () => {
    const found = [lost({ key: 'each=1' })];
    expect(lostAt({ ...state(waiting(9), []), cluster: cluster({ findings: found, unlisted: { lost_resume: 7 } }) }, 'greet')).toBe('1+');
  });

  it('are told of what a join misses', () => {
    const now = state(waiting(2), [lost({ key: 'outer=3/each=1' })]);
    const at = { node_id: 'greet', state: 'waiting_timer' as const, retrying: false, attempt: 1, since: 0, due: 0 };
    const item = (index: number) => ({ type: 'item' as const, data: { index, at } });
    expect([isLostPart(now, item(1), 'outer=3'), isLostPart(now, item(2), 'outer=3'), isLostPart(now, item(1), 'outer=4')]).toEqual([true, false, false]);
    expect([isLostPart(now, item(3), ''), isLostPart(now, item(1), '')]).toEqual([true, false]);
    expect(isLostPart(now, { type: 'branch', data: { edge_id: 'b', parent: 'greet', at } }, 'outer=3/each=1')).toBe(true);
  });
});
