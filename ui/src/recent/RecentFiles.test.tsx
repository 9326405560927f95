import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Bridge, type Files, ProblemError } from '../bridge/bridge';
import type { RecentFile } from '../generated/protocol';
import { connect, openRecording } from '../state/actions';
import { openAsked } from '../state/files';
import { useStore } from '../state/store';
import { recording, summary, view } from '../testing/fixtures';
import { RecentFiles } from './RecentFiles';

const file = (path: string, more: Partial<RecentFile> = {}): RecentFile => ({ path, kind: 'store', missing: false, open: false, ...more });

let kept: RecentFile[];
let files: { [K in keyof Files]: ReturnType<typeof vi.fn<Files[K]>> };

function start(more: Partial<Bridge> = {}): void {
  const call: Bridge['call'] = (request) => {
    if (request.type !== 'execution' || request.execution_id === 'gone') {
      return Promise.reject(new ProblemError({ code: 'not_found', message: 'there is none', hint: '' }));
    }
    return Promise.resolve({ type: 'execution', data: view({ summary: summary({ execution_id: request.execution_id }) }) });
  };
  connect({ host: { mode: 'desktop', title: '', readOnly: false }, call, subscribe: () => () => undefined, ...more });
}

beforeEach(() => {
  kept = [file('/runs/today.db', { open: true }), file('/runs/june.db'), file('/cases/lost.runeglass', { kind: 'case', missing: true })];
  files = {
    asked: vi.fn<Files['asked']>(async () => null),
    recent: vi.fn<Files['recent']>(async () => kept),
    reopen: vi.fn<Files['reopen']>(async () => ({ type: 'store' })),
    forget: vi.fn<Files['forget']>(async (path) => {
      kept = kept.filter((each) => each.path !== path);
    }),
  };
});

describe('RecentFiles', () => {
  it('lists what was open before, but not what is open', async () => {
    start({ files });
    render(<RecentFiles />);
    expect((await screen.findByTestId('recent-june.db')).textContent).toBe('june.dbstore');
    expect(screen.getByTestId('recent-lost.runeglass').textContent).toContain('not there any more');
    expect(screen.queryByTestId('recent-today.db')).toBeNull();
  });

  it('opens another store and begins anew with it', async () => {
    start({ files });
    useStore.setState({ ready: true, executions: [summary()] });
    render(<RecentFiles />);
    fireEvent.click(await screen.findByTestId('recent-june.db'));
    await waitFor(() => expect(useStore.getState().executions).toEqual([]));
    expect(files.reopen).toHaveBeenCalledWith('/runs/june.db');
  });

  it('says kindly that a file is gone, and forgets it when told to', async () => {
    files.reopen.mockRejectedValue(new ProblemError({ code: 'not_found', message: 'there is no file /cases/lost.runeglass any more', hint: 'it may have been moved' }));
    start({ files });
    render(<RecentFiles />);
    fireEvent.click(await screen.findByTestId('recent-lost.runeglass'));
    await waitFor(() => expect(useStore.getState().toasts.at(-1)?.problem.message).toContain('there is no file'));
    fireEvent.click(screen.getByTestId('forget-lost.runeglass'));
    await waitFor(() => expect(screen.queryByTestId('recent-lost.runeglass')).toBeNull());
  });

  it('remembers a recording that was taken into the store, and says when it is not there any more', async () => {
    let id = 'x7';
    start({ importFile: async () => id });
    await openRecording(new File(['SQLite format 3 and so on'], 'case.runeglass'));
    id = 'gone';
    await openRecording(new File(['SQLite format 3 and so on'], 'gone.runeglass'));
    render(<RecentFiles />);
    fireEvent.click(screen.getByTestId('recent-case.runeglass'));
    await waitFor(() => expect(useStore.getState().open).toMatchObject({ executionId: 'x7' }));
    fireEvent.click(screen.getByTestId('recent-gone.runeglass'));
    await waitFor(() => expect(useStore.getState().toasts.at(-1)?.problem.message).toContain('gone.runeglass is not in this store any more'));
    fireEvent.click(screen.getByTestId('forget-gone.runeglass'));
    expect(screen.queryByTestId('recent-gone.runeglass')).toBeNull();
  });

  it('is not there where nothing was open', () => {
    start();
    useStore.setState({ recent: [], preferences: { ...useStore.getState().preferences, cases: [] } });
    const { container } = render(<RecentFiles />);
    expect(container.textContent).toBe('');
  });
});

describe('openAsked', () => {
  it('shows the execution that was in the file', async () => {
    files.asked.mockResolvedValue({ type: 'execution', data: { execution_id: 'x9' } });
    start({ files });
    await openAsked();
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x9' });
  });

  it('plays a document', async () => {
    files.asked.mockResolvedValue({ type: 'recording', data: { name: 'told.json', text: JSON.stringify(recording()) } });
    start({ files });
    await openAsked();
    expect(useStore.getState().host.mode).toBe('replay');
  });

  it('opens a workflow', async () => {
    files.asked.mockResolvedValue({ type: 'workflow', data: { path: 'hello.json' } });
    start({ files });
    await openAsked();
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'hello.json' });
  });
});
