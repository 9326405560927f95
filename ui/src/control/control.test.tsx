import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Bridge, ProblemError } from '../bridge/bridge';
import type { Breakpoint, Command, Request, Response } from '../generated/protocol';
import { connect } from '../state/actions';
import { showPanel, useStore } from '../state/store';
import { controlView, entry, held, summary, view } from '../testing/fixtures';
import { BreakpointsPanel } from './BreakpointsPanel';
import { ControlBar } from './ControlBar';
import { HeldPanel } from './HeldPanel';
import { NodeControl } from './NodeControl';
import { RightPanel } from './RightPanel';
import { combinationOf, useControlKeys } from './useControlKeys';

const call = vi.fn<Bridge['call']>();
const commands = (): Command[] => call.mock.calls.flatMap(([request]) => (request.type === 'control' ? [request.command] : []));
const kept = (): Breakpoint[] => call.mock.calls.flatMap(([request]) => (request.type === 'set_controls' ? request.controls.breakpoints : []));

function answer(request: Request): Promise<Response> {
  if (request.type === 'set_controls' && request.controls.breakpoints.some(({ condition }) => condition === 'x(')) {
    return Promise.reject(new ProblemError({ code: 'invalid_request', message: '“x(” is not an expression', hint: 'write one' }));
  }
  if (request.type === 'set_controls') return Promise.resolve({ type: 'done' });
  if (request.type === 'control') return Promise.resolve({ type: 'control', data: useStore.getState().control.view ?? controlView() });
  return new Promise(() => undefined);
}

const set = (messages = [held()], more = {}): void => {
  act(() => useStore.setState((state) => ({ control: { ...state.control, path: 'hello.json', view: controlView(messages, more) } })));
};
const breakpoints = (...list: Breakpoint[]): void => {
  act(() => useStore.setState((state) => ({ control: { ...state.control, path: 'hello.json', controls: { breakpoints: list, mocks: [] } } })));
};
const settled = (): Promise<void> => act(async () => void (await Promise.resolve()));

beforeEach(() => {
  call.mockReset();
  call.mockImplementation(answer);
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({ connection: { type: 'live' }, ready: true, workflows: [entry()], open: { type: 'execution', executionId: 'x1', view: view({ summary: summary() }) } });
});

describe('HeldPanel', () => {
  it('lists what is held, why, and what it will ask', () => {
    set([held({ key: 'each=7', asks: 'GET https://example.org', edited: true }), held({ message_id: 'm2', node_id: 'say', why: { type: 'broken_condition', index: 1, complaint: 'no x' } })], { held_total: 1_200 });
    render(<HeldPanel />);
    const row = screen.getByTestId('held-row-greet-each=7');
    expect(row.textContent).toMatch(/Greet.*each=7.*breakpoint 1 · before its work.*edited.*GET https:\/\/example\.org/);
    expect(screen.getByTestId('held-row-say-').textContent).toContain('breakpoint 2 cannot decide · before its work no x');
    expect(screen.getByText('1,198 more are held, and listed as these go on.')).toBeTruthy();
  });

  it('acts on the chosen one', async () => {
    set([held(), held({ message_id: 'm2', node_id: 'say' })]);
    render(<HeldPanel />);
    fireEvent.click(screen.getByTestId('held-row-say-'));
    expect(useStore.getState().selectedNode).toBe('say');
    expect(screen.queryByTestId('held-drop')).toBeNull();
    act(() => showPanel('right', false));
    for (const id of ['release', 'duplicate', 'drop']) fireEvent.click(screen.getByTestId(`held-${id}`));
    await settled();
    expect(commands().map(({ type }) => type)).toEqual(['release', 'duplicate', 'drop']);
    expect(commands().every((each) => 'message_id' in each && each.message_id === 'm2')).toBe(true);
  });

  it('says how something comes here, and offers to pause', () => {
    render(<HeldPanel />);
    fireEvent.click(screen.getByText('Pause (F6)'));
    expect(commands()).toEqual([{ type: 'pause' }]);
  });
});

describe('ControlBar', () => {
  it('has only what can be done', () => {
    render(<ControlBar />);
    expect(screen.getByTestId('control-status').textContent).toBe('Running');
    expect(screen.queryByTestId('control-step')).toBeNull();
    set([held({ key: 'each=1' })]);
    expect(screen.getByTestId('control-status').textContent).toBe('1 message held');
    for (const id of ['continue', 'pause', 'step', 'into', 'out']) expect(screen.getByTestId(`control-${id}`)).toBeTruthy();
  });

  it('leaves a moment that is over to itself', () => {
    set([held()]);
    act(() => useStore.setState({ past: { view: view({ position: 7 }), at: 1_000, last: 9 } }));
    const { container } = render(<ControlBar />);
    expect(container.textContent).toBe('');
  });

  it('is absent when it is over, and in a recording', () => {
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ summary: summary({ phase: 'completed' }) }) } });
    const { container } = render(<ControlBar />);
    expect(container.textContent).toBe('');
    act(() => useStore.setState({ host: { mode: 'replay', title: '', readOnly: true }, open: { type: 'execution', executionId: 'x1', view: view() } }));
    expect(container.textContent).toBe('');
  });
});

describe('BreakpointsPanel', () => {
  it('lists them with their conditions, hits and complaints, and toggles and removes', async () => {
    breakpoints({ place: { type: 'before', node_id: 'greet' }, item: 7, condition: '$item.n > 3', hits: 2 }, { place: { type: 'edge', edge_id: 'b' }, log: 'n is $n' });
    set([held({ why: { type: 'broken_condition', index: 0, complaint: 'no $item here' } })], { hits: [4, 1] });
    render(<BreakpointsPanel />);
    const row = screen.getByTestId('breakpoint-0');
    expect(row.textContent).toMatch(/Before Greet.*item 7.*\$item\.n > 3.*from hit 2.*4 hits/);
    expect(screen.getByTestId('break-complaint').textContent).toContain('no $item here');
    expect(screen.getByTestId('breakpoint-1').textContent).toContain('On the edge Greet → say');
    expect(screen.getByTestId('breakpoint-1').textContent).toContain('says “n is $n”');
    fireEvent.click(screen.getByLabelText('Breakpoint 1: Before Greet'));
    await settled();
    expect(kept()[0]).toMatchObject({ disabled: true, item: 7 });
    fireEvent.click(screen.getByTestId('remove-breakpoint-1'));
    await settled();
    expect(useStore.getState().control.controls.breakpoints).toHaveLength(1);
  });

  it('keeps what was written when the host refuses it, with the complaint beside it', async () => {
    breakpoints({ place: { type: 'before', node_id: 'greet' } });
    render(<BreakpointsPanel />);
    fireEvent.click(screen.getByTestId('edit-breakpoint-0'));
    fireEvent.change(screen.getByTestId('break-condition'), { target: { value: 'x(' } });
    fireEvent.click(screen.getByTestId('keep-breakpoint'));
    expect((await screen.findByTestId('break-refused')).textContent).toContain('is not an expression');
    fireEvent.change(screen.getByTestId('break-condition'), { target: { value: 'item == 7' } });
    fireEvent.change(screen.getByTestId('break-log'), { target: { value: 'seven' } });
    fireEvent.click(screen.getByTestId('keep-breakpoint'));
    await settled();
    expect(kept().at(-1)).toEqual({ place: { type: 'before', node_id: 'greet' }, item: 7, log: 'seven' });
  });

  it('adds one at any place', async () => {
    breakpoints();
    render(<BreakpointsPanel />);
    fireEvent.click(screen.getByTestId('add-breakpoint'));
    fireEvent.change(screen.getByTestId('break-side'), { target: { value: 'error' } });
    fireEvent.change(screen.getByTestId('break-target'), { target: { value: '' } });
    fireEvent.click(screen.getByTestId('keep-breakpoint'));
    await settled();
    expect(kept()).toEqual([{ place: { type: 'error' } }]);
  });

  it('says that a place has left the file', () => {
    breakpoints({ place: { type: 'before', node_id: 'gone' } });
    render(<BreakpointsPanel />);
    expect(screen.getByTestId('breakpoint-0').textContent).toContain('no such place any more');
  });
});

describe('RightPanel', () => {
  it('shows the held message, and everything else on request', () => {
    set([held({ parameters: { type: 'whole', data: { json: { text: 'Hello, Ada' }, bytes: 20 } } })]);
    act(() => useStore.setState({ selectedNode: 'greet' }));
    render(<RightPanel>the inspector</RightPanel>);
    expect(screen.getByTestId('held-inspector').textContent).toContain('Hello, Ada');
    expect(screen.getByTestId('edit-parameters')).toBeTruthy();
    fireEvent.click(screen.getByText('All firings'));
    expect(screen.queryByTestId('held-inspector')).toBeNull();
    expect(screen.getByText('the inspector')).toBeTruthy();
  });

  it('after the work only the output can be changed', () => {
    set([held({ gate: 'after', output: { type: 'whole', data: { json: { m: 1 }, bytes: 7 } } })]);
    act(() => useStore.setState({ selectedNode: 'greet' }));
    render(<RightPanel>nothing</RightPanel>);
    expect(screen.getByTestId('edit-output')).toBeTruthy();
    fireEvent.click(screen.getByTestId('tab-parameters'));
    expect(screen.queryByTestId('edit-parameters')).toBeNull();
  });

  it('hides values on a stage', () => {
    set();
    act(() => useStore.setState((state) => ({ selectedNode: 'greet', preferences: { ...state.preferences, presenter: true } })));
    render(<RightPanel>nothing</RightPanel>);
    expect(screen.getByTestId('held-inspector').textContent).not.toContain('Hello, Ada');
  });
});

describe('NodeControl', () => {
  it('pauses the node, runs up to it, and mocks it', async () => {
    set([]);
    act(() => useStore.setState({ selectedNode: 'say' }));
    render(<NodeControl />);
    expect(screen.getAllByRole('button').map((each) => each.textContent)).toEqual(['Breakpoint', 'Run to here', 'Pause here', 'New run to here', 'Mock']);
    fireEvent.click(screen.getByTestId('node-pause-node'));
    expect(commands()).toEqual([{ type: 'pause_node', node_id: 'say' }]);
    fireEvent.click(screen.getByTestId('node-mock'));
    fireEvent.click(screen.getByText('Takes longer'));
    fireEvent.change(screen.getByTestId('mock-millis'), { target: { value: '250' } });
    fireEvent.click(screen.getByTestId('keep-mock'));
    await settled();
    expect(useStore.getState().control.controls.mocks).toEqual([{ node_id: 'say', answer: { type: 'latency', millis: 250 } }]);
    fireEvent.click(screen.getByTestId('node-run-until'));
    expect(call.mock.calls.at(-1)?.[0]).toEqual({ type: 'run', path: 'hello.json', options: { until: 'say' } });
  });

  it('is absent in a recording', () => {
    useStore.setState({ host: { mode: 'replay', title: '', readOnly: true }, selectedNode: 'say' });
    const { container } = render(<NodeControl />);
    expect(container.textContent).toBe('');
  });
});

function Keys(): null {
  useControlKeys();
  return null;
}

describe('keys', () => {
  it.each([
    [{ key: 'F5' }, 'continue'],
    [{ key: 'F6' }, 'pause'],
    [{ key: 'F10' }, 'step'],
    [{ key: 'F11' }, 'step'],
    [{ key: 'F11', shiftKey: true }, 'to_barrier'],
    [{ key: 'F10', ctrlKey: true }, 'run_to'],
  ])('%j is %s', async (key, expected) => {
    set([held({ key: 'each=1' })]);
    act(() => useStore.setState({ selectedNode: 'greet' }));
    render(<Keys />);
    // fireEvent answers false when the default was prevented.
    expect(fireEvent.keyDown(document.body, key)).toBe(false);
    await settled();
    expect(commands().map(({ type }) => type)).toEqual([expected]);
  });

  it('F9 is for the selected node, or for the one the keyboard is at', async () => {
    breakpoints();
    act(() => useStore.setState({ focusedNode: 'say' }));
    render(<Keys />);
    fireEvent.keyDown(document.body, { key: 'F9' });
    await settled();
    expect(kept()).toEqual([{ place: { type: 'before', node_id: 'say' } }]);
  });

  it('do nothing where nothing can be done, and never what the browser would', () => {
    useStore.setState({ open: { type: 'workflow', path: 'hello.json' } });
    render(<Keys />);
    for (const key of ['F5', 'F6', 'F9', 'F10', 'F11']) expect(fireEvent.keyDown(document.body, { key })).toBe(false);
    expect(commands()).toEqual([]);
  });

  it('are named as people name them', () => {
    expect(combinationOf({ key: 'F5', ctrlKey: true, metaKey: false, shiftKey: true, altKey: false })).toBe('Ctrl+Shift+F5');
  });
});
