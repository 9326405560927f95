import { describe, expect, it } from 'vitest';
import { entry, nodeView, patch, summary, view } from '../testing/fixtures';
import { MOST_LISTED, reduceUpdates } from './updates';

const empty = { workflows: [], executions: [], open: { type: 'nothing' as const }, heldChanges: 0, unlisted: 0 };

describe('reduceUpdates', () => {
  it('adds an execution it did not know, newest first', () => {
    const before = { ...empty, executions: [summary()] };
    const late = summary({ execution_id: 'x2', started_at: 5_000 });
    const { state } = reduceUpdates(before, [{ type: 'execution', data: patch(1, { execution_id: 'x2', summary: late }) }]);
    expect(state.executions.map((each) => each.execution_id)).toEqual(['x2', 'x1']);
  });

  it('replaces a known summary where it stands', () => {
    const before = { ...empty, executions: [summary({ execution_id: 'x0' }), summary()] };
    const done = summary({ phase: 'completed' });
    const { state } = reduceUpdates(before, [{ type: 'execution', data: patch(2, { summary: done }) }]);
    expect(state.executions.map((each) => each.phase)).toEqual(['running', 'completed']);
  });

  it('lets the oldest that have ended go when there is no end of them', () => {
    const ended = (number: number) => summary({ execution_id: `e${number}`, phase: 'completed', ended_at: 1 });
    const oldest = summary({ execution_id: 'goes on', ended_at: null });
    const many = Array.from({ length: MOST_LISTED - 1 }, (_, number) => ended(number));
    const late = summary({ execution_id: 'new', started_at: 5_000 });
    const { state } = reduceUpdates({ ...empty, executions: [...many, oldest] }, [{ type: 'execution', data: patch(1, { execution_id: 'new', summary: late }) }]);
    expect(state.executions).toHaveLength(MOST_LISTED);
    expect(state.executions[0]?.execution_id).toBe('new');
    expect(state.executions.at(-1)?.execution_id).toBe('goes on');
    expect(state.executions.some((each) => each.execution_id === `e${MOST_LISTED - 2}`)).toBe(false);
  });

  it('takes out of the list what is not kept any more, and lists what is told anew', () => {
    const before = { ...empty, executions: [summary({ execution_id: 'x3' }), summary({ execution_id: 'x2' }), summary()] };
    const anew = patch(1, { execution_id: 'x2', summary: summary({ execution_id: 'x2' }) });
    const { state } = reduceUpdates(before, [{ type: 'forgotten', data: ['x1', 'x2'] }, { type: 'execution', data: anew }]);
    expect(state.executions.map((each) => each.execution_id)).toEqual(['x2', 'x3']);
  });

  it('applies patches to the open view', () => {
    const before = { ...empty, open: { type: 'execution' as const, executionId: 'x1', view: view() } };
    const { state, waiting } = reduceUpdates(before, [
      { type: 'execution', data: patch(2, { nodes: { start: nodeView('success') } }) },
    ]);
    expect(state.open.type === 'execution' && state.open.view?.nodes.start?.state).toBe('success');
    expect(waiting).toEqual([]);
  });

  it('hands patches back while the view is on its way', () => {
    const before = { ...empty, open: { type: 'execution' as const, executionId: 'x1', view: null } };
    const mine = patch(2);
    const other = patch(2, { execution_id: 'x2', summary: summary({ execution_id: 'x2' }) });
    const { waiting } = reduceUpdates(before, [mine, other].map((data) => ({ type: 'execution', data })));
    expect(waiting).toEqual([mine]);
  });

  it('takes the list of workflows and tells troubles', () => {
    const problem = { code: 'store_full' as const, message: 'The disk is full.', hint: 'Make room.' };
    const { state, troubles } = reduceUpdates(empty, [
      { type: 'workflows', data: [entry()] },
      { type: 'trouble', data: problem },
    ]);
    expect(state.workflows).toHaveLength(1);
    expect(troubles).toEqual([problem]);
  });

  it('counts how often what is held has changed', () => {
    expect(reduceUpdates(empty, [{ type: 'control' }, { type: 'control' }]).state.heldChanges).toBe(2);
  });
});
