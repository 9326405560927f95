import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bridge } from '../bridge/bridge';
import type { Request } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { diagnostic, entry, summary, view } from '../testing/fixtures';
import { RunControls } from './RunControls';

const call = vi.fn<Bridge['call']>();

/** What was asked for; never answered, so that nothing moves on. */
const asked = (): Request[] => call.mock.calls.map(([request]) => request);

beforeEach(() => {
  call.mockReset();
  call.mockReturnValue(new Promise(() => undefined));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({ open: { type: 'workflow', path: 'hello.json' }, workflows: [entry()] });
});

describe('RunControls', () => {
  it('runs the open workflow', () => {
    render(<RunControls />);
    fireEvent.click(screen.getByTestId('run'));
    expect(asked()).toEqual([{ type: 'run', path: 'hello.json' }]);
    expect(screen.queryByTestId('stop')).toBeNull();
  });

  it.each([{ key: 'F5' }, { key: 'Enter', ctrlKey: true }])('runs with %j', (key) => {
    render(<RunControls />);
    fireEvent.keyDown(document.body, key);
    expect(asked()).toEqual([{ type: 'run', path: 'hello.json' }]);
  });

  it('is blocked by errors and says why', () => {
    useStore.setState({ workflows: [entry({ diagnostics: [diagnostic()] })] });
    render(<RunControls />);
    fireEvent.click(screen.getByTestId('run'));
    fireEvent.keyDown(document.body, { key: 'F5' });
    expect(asked()).toEqual([]);
    expect(screen.getByTestId('run').getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByTestId('run-blocked').textContent).toBe('Fix the error in hello.json first.');
  });

  it('stops what runs, and F5 does not start a second one', () => {
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ summary: summary() }) } });
    render(<RunControls />);
    fireEvent.keyDown(document.body, { key: 'F5' });
    fireEvent.keyDown(document.body, { key: 'F5', shiftKey: true });
    fireEvent.click(screen.getByTestId('stop'));
    const cancel = { type: 'cancel', execution_id: 'x1' };
    expect(asked()).toEqual([cancel, cancel]);
  });

  it('hears F5 also when somebody has kept the browser from reloading, and not with Alt', () => {
    const keep = (event: KeyboardEvent): void => event.preventDefault();
    window.addEventListener('keydown', keep, { capture: true });
    render(<RunControls />);
    fireEvent.keyDown(document.body, { key: 'F5', altKey: true });
    expect(asked()).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'F5' });
    window.removeEventListener('keydown', keep, { capture: true });
    expect(asked()).toEqual([{ type: 'run', path: 'hello.json' }]);
  });

  it('steps from the start', () => {
    render(<RunControls />);
    fireEvent.click(screen.getByTestId('run-paused'));
    expect(asked()).toEqual([{ type: 'run', path: 'hello.json', options: { paused: true } }]);
  });

  it('is absent in a recording', () => {
    useStore.setState({ host: { mode: 'replay', title: 'Hello', readOnly: true } });
    const { container } = render(<RunControls />);
    expect(container.textContent).toBe('');
  });

  it('checks the input before it runs with it', async () => {
    render(<RunControls />);
    fireEvent.click(screen.getByTestId('run-input'));
    const text = screen.getByTestId('run-input-text');
    expect((text as HTMLTextAreaElement).value).toContain('"Ada"');
    fireEvent.change(text, { target: { value: '{"name": ' } });
    fireEvent.click(screen.getByTestId('run-with-input'));
    expect(screen.getByText(/^Not JSON/)).toBeTruthy();
    expect(asked()).toEqual([]);
    fireEvent.change(text, { target: { value: '{"name": "Grace"}' } });
    await act(async () => fireEvent.click(screen.getByTestId('run-with-input')));
    expect(asked()).toEqual([{ type: 'run', path: 'hello.json', input: { name: 'Grace' } }]);
    act(() => useStore.setState({ starting: false }));
    fireEvent.click(screen.getByTestId('run-input'));
    expect((screen.getByTestId('run-input-text') as HTMLTextAreaElement).value).toBe('{"name": "Grace"}');
    const sample = (screen.getByText('Sample of the workflow') as HTMLOptionElement).value;
    fireEvent.change(screen.getByTestId('recent-inputs'), { target: { value: sample } });
    expect((screen.getByTestId('run-input-text') as HTMLTextAreaElement).value).toContain('"Ada"');
  });
});
