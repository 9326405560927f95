import { act, render } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bridge } from '../bridge/bridge';
import { ProblemError } from '../bridge/bridge';
import type { Controls, ControlView, Request, Response } from '../generated/protocol';
import { controlView, entry, held, summary, view } from '../testing/fixtures';
import { connect } from './actions';
import { commanded, followedBy, heldNow, inOrder, selectedHeld, step, toggleBreakpoint, useFollowControl } from './control';
import { controlCommands } from './controlCommands';
import { selectNode, useStore } from './store';

let kept: Controls;
let now: ControlView;
const call = vi.fn<Bridge['call']>();

const asked = (type: Request['type']): Request[] => call.mock.calls.map(([request]) => request).filter((each) => each.type === type);
const ids = (): string[] => controlCommands(useStore.getState()).map(({ id }) => id);

function answer(request: Request): Promise<Response> {
  switch (request.type) {
    case 'controls':
      return Promise.resolve({ type: 'controls', data: kept });
    case 'set_controls':
      if (request.controls.breakpoints.some(({ condition }) => condition === 'broken(')) {
        return Promise.reject(new ProblemError({ code: 'invalid_request', message: 'is not an expression', hint: 'write one' }));
      }
      kept = request.controls;
      return Promise.resolve({ type: 'done' });
    case 'held':
    case 'control':
      return Promise.resolve({ type: 'control', data: now });
    default:
      return new Promise(() => undefined);
  }
}

function Follows(): null {
  useFollowControl();
  return null;
}

beforeEach(() => {
  kept = { breakpoints: [], mocks: [] };
  now = controlView();
  call.mockReset();
  call.mockImplementation(answer);
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({
    connection: { type: 'live' },
    workflows: [entry()],
    open: { type: 'execution', executionId: 'x1', view: view({ summary: summary() }) },
  });
});

const settled = (): Promise<void> => act(async () => void (await new Promise((resolve) => setTimeout(resolve, 20))));

describe('breakpoints', () => {
  it('are asked for, changed one after the other, and kept as a whole', async () => {
    kept = { breakpoints: [{ place: { type: 'before', node_id: 'start' } }], mocks: [] };
    render(<Follows />);
    await settled();
    expect(useStore.getState().control.controls.breakpoints).toHaveLength(1);
    toggleBreakpoint({ type: 'before', nodeId: 'greet' });
    toggleBreakpoint({ type: 'after', nodeId: 'greet' });
    await settled();
    expect(kept.breakpoints.map(({ place }) => place.type)).toEqual(['before', 'before', 'after']);
    expect(useStore.getState().control.controls).toEqual(kept);
  });

  it('are not lost when one is set before they are known', async () => {
    kept = { breakpoints: [{ place: { type: 'before', node_id: 'start' } }], mocks: [] };
    toggleBreakpoint({ type: 'before', nodeId: 'greet' });
    await settled();
    expect(kept.breakpoints).toHaveLength(2);
  });

  it('are absent in a recording', () => {
    useStore.setState({ host: { mode: 'replay', title: '', readOnly: true } });
    selectNode('greet');
    toggleBreakpoint({ type: 'before', nodeId: 'greet' });
    expect(asked('set_controls')).toEqual([]);
    expect(ids()).toEqual([]);
  });
});

describe('held messages', () => {
  it('are followed: the step leads to the next node', async () => {
    now = controlView([held({ message_id: 'm3', key: 'each=3' }), held({ message_id: 'm4', key: 'each=4' })]);
    render(<Follows />);
    await settled();
    const third = heldNow(useStore.getState())[0];
    if (!third) throw new Error('nothing is held');
    now = controlView([held({ message_id: 'm4', key: 'each=4' }), held({ message_id: 'n3', node_id: 'say', key: 'each=3', why: { type: 'stepped' } })]);
    act(() => step(third, 'step'));
    await settled();
    expect(asked('control')).toEqual([{ type: 'control', execution_id: 'x1', command: { type: 'step', message_id: 'm3' } }]);
    expect(selectedHeld(useStore.getState())?.message_id).toBe('n3');
    expect(useStore.getState().selectedNode).toBe('say');
  });

  it('are the ones at the selected node, else the chosen one, else the first', async () => {
    now = controlView([held(), held({ message_id: 'm2', node_id: 'say' })]);
    render(<Follows />);
    await settled();
    expect(selectedHeld(useStore.getState())?.message_id).toBe('m1');
    act(() => selectNode('say'));
    expect(selectedHeld(useStore.getState())?.message_id).toBe('m2');
    act(() => selectNode('sorry'));
    expect(selectedHeld(useStore.getState())?.message_id).toBe('m1');
  });

  it('belong to now and to what runs', async () => {
    now = controlView([held()]);
    render(<Follows />);
    await settled();
    expect(commanded(useStore.getState())).toBe('x1');
    act(() => useStore.setState({ past: { view: view(), at: 1, last: 2 } as never }));
    expect(heldNow(useStore.getState())).toEqual([]);
    act(() => useStore.setState({ past: null, open: { type: 'execution', executionId: 'x1', view: view({ summary: summary({ phase: 'completed' }) }) } }));
    expect(heldNow(useStore.getState())).toEqual([]);
    expect(ids()).not.toContain('step');
  });
});

describe('followedBy', () => {
  const following = { key: 'each=3', known: ['m1'] };
  it('finds what is inside of it, or around it', () => {
    expect(followedBy(following, [held(), held({ message_id: 'in', key: 'each=3/inner=0' })])?.message_id).toBe('in');
    expect(followedBy(following, [held({ message_id: 'up', key: '' })])?.message_id).toBe('up');
  });
  it('and nobody else', () => expect(followedBy(following, [held({ key: 'each=3' }), held({ message_id: 'x', key: 'each=31' })])).toBeNull());
});

describe('inOrder', () => {
  it('puts items of one node in their order, and nodes as they were held', () => {
    const list = [held({ node_id: 'b', key: 'each=10' }), held({ node_id: 'a', key: 'each=1' }), held({ node_id: 'b', key: 'each=9' })];
    expect(inOrder(list).map(({ node_id, key }) => `${node_id} ${key}`)).toEqual(['b each=9', 'b each=10', 'a each=1']);
  });
});

describe('commands', () => {
  it('are those that are possible', async () => {
    now = controlView([held({ key: 'each=3' })]);
    render(<Follows />);
    await settled();
    act(() => selectNode('greet'));
    expect(ids()).toEqual(expect.arrayContaining(['continue', 'pause', 'step', 'into', 'out', 'release', 'duplicate', 'drop', 'run-to', 'pause-node', 'breakpoint', 'step-start', 'run-until', 'step-back', 'back-break']));
    now = controlView([held({ gate: 'after' })], { paused: true, paused_nodes: ['greet'] });
    act(() => useStore.setState((state) => ({ heldChanges: state.heldChanges + 1 })));
    await act(async () => void (await new Promise((resolve) => setTimeout(resolve, 250))));
    expect(ids()).not.toEqual(expect.arrayContaining(['duplicate']));
    expect(ids()).not.toContain('out');
    expect(ids()).not.toContain('pause');
    expect(ids()).toContain('resume-node');
  });

  it('step over a fan-out, unless one goes into it', async () => {
    const definition = { ...view().definition, nodes: [{ id: 'each', type: 'split', parameters: {} }] };
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ definition }) } });
    now = controlView([held({ node_id: 'each' })]);
    render(<Follows />);
    await settled();
    const act10 = controlCommands(useStore.getState()).find(({ id }) => id === 'step');
    expect(act10?.text).toBe('Step over the fan-out');
    act(() => act10?.act());
    act(() => controlCommands(useStore.getState()).find(({ id }) => id === 'into')?.act());
    await settled();
    expect(asked('control').map((each) => each.type === 'control' && each.command.type)).toEqual(['step_over', 'step']);
  });
});
