import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Finding } from '../generated/protocol';
import { connect } from '../state/actions';
import { showCluster, useStore } from '../state/store';
import { cluster, diagnostic, entry, summary, view } from '../testing/fixtures';
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

  it('tells the age of what runs on a cluster by its clock, also after detaching', () => {
    const ahead = 600_000;
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
    const started_at = Date.now() - 180_000;
    useStore.setState({ executions: [summary({ started_at: started_at + ahead, observed }), summary({ execution_id: 'x2', started_at })] });
    const ages = (): (string | undefined)[] => [...document.querySelectorAll('.library-when')].map((each) => each.textContent ?? undefined);
    act(() => showCluster(cluster({ ahead })));
    render(<Library />);
    expect(ages()).toEqual(['3 min ago', '3 min ago']);
    act(() => showCluster(null));
    expect(ages()).toEqual(['3 min ago', '3 min ago']);
  });

  it('marks what something was found wrong with, and says what', () => {
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
    const finding = (execution_id: string | null, sentence: string): Finding => ({ rule: 'lost_resume', since: 0, execution_id, sentence, evidence: [], advice: '' });
    const findings = [finding('x1', 'Rest will never go on'), finding(null, 'nobody takes work'), finding('x1', 'All can no longer open')];
    useStore.setState({ executions: [summary({ observed }), summary({ execution_id: 'x2', observed })], cluster: cluster({ findings }) });
    render(<Library />);
    const mark = screen.getByText('2 wrong').closest('.library-wrong');
    expect(mark?.getAttribute('title')).toBe('Rest will never go on.\nAll can no longer open.');
    expect(screen.getByTestId('execution-x1').contains(mark)).toBe(true);
    expect(screen.getByTestId('execution-x2').textContent).not.toContain('wrong');
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

  it('leaves out no execution that has not ended, and counts those it leaves out', () => {
    const ended = Array.from({ length: 250 }, (_, at) => summary({ execution_id: `e${at}`, phase: 'completed', ended_at: 2_000 }));
    useStore.setState({ executions: [...ended, summary({ execution_id: 'stuck' })], unlisted: 1_000 });
    render(<Library />);
    const rows = [...document.querySelectorAll('[data-testid^="execution-"]')].map((row) => row.getAttribute('data-testid'));
    expect(rows).toHaveLength(200);
    expect(rows.slice(-2)).toEqual(['execution-e198', 'execution-stuck']);
    expect(screen.getByText('1,051 older ones are not shown.')).toBeTruthy();
    expect(screen.getByText('1,251')).toBeTruthy();
  });

  it('says that there are older ones where the host has listed as many as are shown', () => {
    useStore.setState({ executions: Array.from({ length: 200 }, (_, at) => summary({ execution_id: `e${at}`, ended_at: 2_000 })), unlisted: 1 });
    render(<Library />);
    expect(screen.getByText('1 older one is not shown.')).toBeTruthy();
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
