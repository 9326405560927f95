import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { entriesOf } from '../palette/entries';
import { connect } from '../state/actions';
import { showProblem, useStore } from '../state/store';
import { cluster, diagnostic, entry, summary, view } from '../testing/fixtures';
import { App } from './App';

beforeEach(() => {
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: () => new Promise(() => undefined),
    subscribe: () => () => undefined,
  });
  useStore.setState({ ready: true, connection: { type: 'live' }, workflows: [entry()], open: { type: 'workflow', path: 'hello.json' } });
});

describe('App', () => {
  it('toggles its panels with one key each, and remembers', () => {
    render(<App />);
    expect(screen.getByTestId('inspector')).toBeTruthy();
    fireEvent.keyDown(document.body, { key: 'i', ctrlKey: true });
    expect(screen.queryByTestId('inspector')).toBeNull();
    fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(screen.queryByRole('navigation')).toBeNull();
    expect(localStorage.getItem('runeglass.preferences')).toContain('"shown":false');
  });

  it('moves a splitter with the arrows, within its limits', () => {
    render(<App />);
    const splitter = screen.getByRole('separator', { name: 'Width of the library' });
    const before = Number(splitter.getAttribute('aria-valuenow'));
    fireEvent.keyDown(splitter, { key: 'ArrowRight' });
    expect(useStore.getState().preferences.panels.left.size).toBe(before + 16);
    fireEvent.keyDown(splitter, { key: 'Home' });
    fireEvent.keyDown(splitter, { key: 'ArrowLeft' });
    expect(useStore.getState().preferences.panels.left.size).toBe(200);
  });

  it('says that nothing is kept, where that is so', () => {
    render(<App />);
    expect(screen.queryByTestId('unkept-banner')).toBeNull();
    act(() => useStore.setState({ keepsNothing: true }));
    expect(screen.getByTestId('unkept-banner').textContent).toMatch(/keeps nothing.*Another one has the store.*To keep it, close the other one/);
  });

  it('shows problems only where there are some', () => {
    render(<App />);
    expect(screen.queryByTestId('problems')).toBeNull();
    useStore.setState({ workflows: [entry({ diagnostics: [diagnostic()] })] });
    return screen.findByTestId('problems');
  });

  it('says calmly that the file has changed, and leads to it', async () => {
    const open = { type: 'execution' as const, executionId: 'x1', view: view({ summary: summary({ definition_hash: 'old' }) }) };
    useStore.setState({ open });
    render(<App />);
    fireEvent.click(screen.getByText('View the file'));
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'hello.json' });
  });

  it('never reloads', () => {
    render(<App />);
    for (const key of [{ key: 'r', ctrlKey: true }, { key: 'F5' }, { key: 'F5', ctrlKey: true }]) {
      // fireEvent answers false when the default was prevented.
      expect(fireEvent.keyDown(document.body, key)).toBe(false);
    }
  });

  it('goes through the themes and writes the one in force on the page', () => {
    render(<App />);
    const themes = [1, 2, 3].map(() => {
      fireEvent.click(screen.getByTestId('theme-toggle'));
      return document.documentElement.dataset.theme;
    });
    expect(themes).toEqual(['light', 'dark', 'contrast']);
  });

  it('presents: large type and room for the graph, and comes back', () => {
    render(<App />);
    fireEvent.click(screen.getByTestId('presenter'));
    expect(document.documentElement.dataset.presenter).toBe('on');
    expect(screen.queryByTestId('inspector')).toBeNull();
    fireEvent.click(screen.getByTestId('presenter'));
    expect(document.documentElement.dataset.presenter).toBe('off');
    expect(screen.getByTestId('inspector')).toBeTruthy();
  });

  it('begins in the gallery', () => {
    useStore.setState({ open: { type: 'nothing' } });
    render(<App />);
    expect(screen.getByTestId('gallery')).toBeTruthy();
    expect(screen.queryByTestId('inspector')).toBeNull();
  });

  it('shows a refusal on the whole page, without actions', () => {
    const problem = { code: 'invalid_request' as const, message: 'No token.', hint: 'Open the printed address.' };
    useStore.setState({ connection: { type: 'refused', problem } });
    render(<App />);
    expect(screen.getByTestId('full-page').textContent).toContain('Open the printed address.');
    expect(screen.queryByTestId('run')).toBeNull();
  });

  it('shows problems of calls until they are dismissed, each once', async () => {
    render(<App />);
    const problem = { code: 'store_full' as const, message: 'The disk is full.', hint: 'Make room.' };
    showProblem(problem);
    showProblem(problem);
    expect(await screen.findAllByText('The disk is full.')).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('The disk is full.')).toBeNull();
  });

  it('shows what waits on an attached cluster before an execution is open, behind the cluster as a whole', () => {
    useStore.setState({ cluster: cluster(), open: { type: 'nothing' }, workflows: [] });
    render(<App />);
    expect(screen.getByTestId('tab-waits')).toBeTruthy();
    expect(screen.getByTestId('cluster-panel')).toBeTruthy();
    expect(entriesOf(useStore.getState(), '', () => undefined).map(({ text }) => text)).toContain('Show what waits');
  });
});
