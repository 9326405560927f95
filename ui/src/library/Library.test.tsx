import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { diagnostic, entry, summary, view } from '../testing/fixtures';
import { Library } from './Library';

describe('Library', () => {
  it('says what would appear and what to do when it is empty', () => {
    useStore.setState({ ready: true, folder: 'my-workflows' });
    render(<Library />);
    expect(screen.getByText('No workflows yet')).toBeTruthy();
    expect(screen.getByText('my-workflows')).toBeTruthy();
    expect(screen.getByText('Nothing has run yet')).toBeTruthy();
  });

  it('lists workflows with their findings and opens one', () => {
    const second = entry({ path: 'b.json', title: 'Second', diagnostics: [diagnostic(), diagnostic({ severity: 'warning' })] });
    useStore.setState({ workflows: [entry(), second] });
    render(<Library />);
    const row = screen.getByTestId('workflow-b.json');
    expect(row.textContent).toContain('1 error');
    expect(row.textContent).toContain('1 warning');
    fireEvent.click(row);
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'b.json' });
    expect(row.getAttribute('aria-current')).toBe('true');
  });

  it('asks anew what was open before when the stories are wanted, also from there', async () => {
    const recent = vi.fn(async () => []);
    const files = { recent, asked: async () => null, reopen: async () => ({ type: 'store' as const }), forget: async () => undefined };
    connect({ host: { mode: 'desktop', title: '', readOnly: false }, call: () => Promise.reject(new Error('unused')), subscribe: () => () => undefined, files });
    render(<Library />);
    expect(useStore.getState().open).toEqual({ type: 'nothing' });
    fireEvent.click(screen.getByTestId('open-gallery'));
    await waitFor(() => expect(recent).toHaveBeenCalledTimes(1));
  });

  it('lists executions with state, duration and a short id', () => {
    useStore.setState({ executions: [summary({ execution_id: 'abcdef0123456789', phase: 'halted', ended_at: 1_250 })] });
    render(<Library />);
    const text = screen.getByTestId('execution-abcdef0123456789').textContent;
    for (const part of ['Hello', 'Halted', '250 ms', '23456789']) expect(text).toContain(part);
  });

  it('brings the line of what is open into sight', () => {
    const revealed: string[] = [];
    Element.prototype.scrollIntoView = function scrollIntoView(this: HTMLElement) {
      revealed.push(this.dataset.testid ?? '');
    };
    useStore.setState({ workflows: [entry(), entry({ path: 'b.json' })], executions: [summary()] });
    render(<Library />);
    expect(revealed).toEqual([]);
    act(() => useStore.setState({ open: { type: 'workflow', path: 'b.json' } }));
    expect(revealed).toEqual(['workflow-b.json']);
    act(() => useStore.setState({ open: { type: 'execution', executionId: summary().execution_id, view: view() } }));
    expect(revealed.slice(1)).toEqual([`workflow-${summary().path}`, `execution-${summary().execution_id}`]);
  });

  it('has no workflows in a recording', () => {
    useStore.setState({ host: { mode: 'replay', title: 'Hello', readOnly: true }, executions: [summary()] });
    render(<Library />);
    expect(screen.queryByText('Workflows')).toBeNull();
  });

  it('is walked with the arrows', () => {
    useStore.setState({ workflows: [entry(), entry({ path: 'b.json' })] });
    render(<Library />);
    screen.getByTestId('workflow-hello.json').focus();
    fireEvent.keyDown(screen.getByTestId('workflow-hello.json'), { key: 'ArrowDown' });
    expect(document.activeElement).toBe(screen.getByTestId('workflow-b.json'));
  });
});
