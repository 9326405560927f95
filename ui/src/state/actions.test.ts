import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Bridge, type Listener, ProblemError } from '../bridge/bridge';
import type { Request, Response } from '../generated/protocol';
import { WORKFLOW, entry, nodeView, patch, recording, summary, view } from '../testing/fixtures';
import { closeRecording, connect, openExecution, openRecording, run } from './actions';
import { shownDefinition } from './selectors';
import { openWorkflow, useStore } from './store';

/** A host whose answers are given by hand. */
class Stage implements Bridge {
  readonly host = { mode: 'web' as const, title: '', readOnly: false };
  listener: Listener | null = null;
  asked: { request: Request; answer: (response: Response) => void; fail: (error: Error) => void }[] = [];

  call(request: Request): Promise<Response> {
    return new Promise((answer, fail) => this.asked.push({ request, answer, fail }));
  }

  subscribe(listener: Listener): () => void {
    this.listener = listener;
    return () => undefined;
  }

  next(type: Request['type']) {
    const index = this.asked.findIndex(({ request }) => request.type === type);
    const [found] = this.asked.splice(index, 1);
    if (index < 0 || !found) throw new Error(`Nobody asked for ${type}.`);
    return found;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const snapshot = (more: object = {}): Response => ({
  type: 'snapshot',
  data: { version: '1', folder: 'w', runs_on: 'here', workflows: [entry()], executions: [], ...more },
});
const openView = () => {
  const { open } = useStore.getState();
  return open.type === 'execution' ? open.view : null;
};

let stage: Stage;

async function live(response = snapshot()): Promise<void> {
  stage.listener?.connection({ type: 'live' });
  stage.next('snapshot').answer(response);
  await settled();
}

beforeEach(() => {
  stage = new Stage();
  connect(stage);
});

describe('connect', () => {
  it('starts a first visit in the gallery', async () => {
    await live();
    expect(useStore.getState().open).toEqual({ type: 'nothing' });
  });

  it('comes back to the file that was looked at last, if it is still there', async () => {
    openWorkflow('hello.json');
    connect(stage);
    await live(snapshot({ executions: [summary()] }));
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'hello.json' });
    openWorkflow('gone.json');
    connect(stage);
    await live(snapshot({ executions: [summary()] }));
    expect(useStore.getState().open).toEqual({ type: 'nothing' });
  });

  it('applies what arrived during the snapshot after it', async () => {
    stage.listener?.connection({ type: 'live' });
    stage.listener?.updates([{ type: 'workflows', data: [entry({ title: 'Newer' })] }]);
    stage.next('snapshot').answer(snapshot());
    await settled();
    expect(useStore.getState().workflows[0]?.title).toBe('Newer');
  });

  it('asks for the snapshot and the open view again after a lost connection', async () => {
    await live(snapshot({ executions: [summary()] }));
    void openExecution('x1');
    stage.next('execution').answer({ type: 'execution', data: view() });
    await settled();
    stage.listener?.connection({
      type: 'reconnecting',
      problem: { code: 'infrastructure', message: 'Away.', hint: '' },
    });
    await live(snapshot({ executions: [summary({ phase: 'completed' })] }));
    stage.next('execution').answer({ type: 'execution', data: view({ position: 7 }) });
    await settled();
    expect(openView()?.position).toBe(7);
    expect(useStore.getState().executions[0]?.execution_id).toBe('x1');
  });
});

describe('openExecution', () => {
  it('loses no patch that arrives before the view', async () => {
    await live();
    void openExecution('x1');
    stage.listener?.updates([{ type: 'execution', data: patch(1) }]);
    stage.listener?.updates([{ type: 'execution', data: patch(2, { nodes: { start: nodeView('success') } }) }]);
    stage.next('execution').answer({ type: 'execution', data: view({ position: 1 }) });
    await settled();
    expect(openView()?.position).toBe(2);
    expect(openView()?.nodes.start?.state).toBe('success');
  });

  it('does not show a late answer over another execution', async () => {
    await live();
    void openExecution('x1');
    const late = stage.next('execution');
    void openExecution('x2');
    late.answer({ type: 'execution', data: view() });
    await settled();
    expect(openView()).toBeNull();
  });
});

describe('run', () => {
  it('opens what it started', async () => {
    await live();
    openWorkflow('hello.json');
    void run('hello.json', { name: 'Grace' });
    const asked = stage.next('run');
    expect(asked.request).toEqual({ type: 'run', path: 'hello.json', input: { name: 'Grace' } });
    asked.answer({ type: 'started', data: { execution_id: 'x1' } });
    await settled();
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x1', view: null });
    expect(shownDefinition(useStore.getState())).toBe(WORKFLOW);
  });

  it('looks again when the host does not know yet what it started', async () => {
    await live();
    vi.useFakeTimers();
    void run('hello.json');
    stage.next('run').answer({ type: 'started', data: { execution_id: 'x1' } });
    await vi.advanceTimersByTimeAsync(0);
    stage.next('execution').fail(new ProblemError({ code: 'not_found', message: 'There is none.', hint: '' }));
    await vi.advanceTimersByTimeAsync(200);
    stage.next('execution').answer({ type: 'execution', data: view() });
    await vi.advanceTimersByTimeAsync(0);
    vi.useRealTimers();
    expect(openView()?.position).toBe(1);
    expect(useStore.getState().toasts).toEqual([]);
  });

  it('shows the problem when it cannot', async () => {
    await live();
    void run('hello.json');
    stage.next('run').fail(new ProblemError({ code: 'store_full', message: 'The disk is full.', hint: 'Make room.' }));
    await settled();
    expect(useStore.getState().toasts[0]?.problem.message).toBe('The disk is full.');
    expect(useStore.getState().starting).toBe(false);
  });
});

describe('recordings', () => {
  it('are replayed, and closing one leads back', async () => {
    await live();
    vi.useFakeTimers();
    await openRecording(new File([JSON.stringify(recording())], 'hello.json'));
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(useStore.getState().host).toEqual({ mode: 'replay', title: 'Hello', readOnly: true });
    expect(openView()?.summary.phase).toBe('completed');
    closeRecording();
    expect(useStore.getState().host.mode).toBe('web');
  });

  it('that cannot be read leave everything as it was', async () => {
    await live();
    openWorkflow('hello.json');
    await openRecording(new File(['{"format": "other"}'], 'bad.json'));
    expect(useStore.getState().host.mode).toBe('web');
    expect(useStore.getState().open.type).toBe('workflow');
    expect(useStore.getState().toasts[0]?.problem.message).toContain('bad.json is not a recording');
  });
});

describe('a recording in one file', () => {
  const file = (begins: string): File => new File([begins, 'anything'], 'case.runeglass');

  it('is taken into the store and opened, whatever it is called', async () => {
    await live();
    const taken: Blob[] = [];
    Object.assign(stage, { importFile: async (blob: Blob) => (taken.push(blob), 'x9') });
    const opened = openRecording(new File(['SQLite format 3\u0000…'], 'no ending'));
    await vi.waitFor(() => expect(stage.asked.some(({ request }) => request.type === 'execution')).toBe(true));
    stage.next('execution').answer({ type: 'execution', data: view({ summary: summary({ execution_id: 'x9' }) }) });
    await opened;
    expect(taken).toHaveLength(1);
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x9' });
  });

  it('says why it is refused, and leaves everything as it was', async () => {
    await live();
    const problem = { code: 'store_refused' as const, message: 'It is there already.', hint: 'Look at the list.' };
    Object.assign(stage, { importFile: () => Promise.reject(new ProblemError(problem)) });
    const before = useStore.getState().open;
    await openRecording(file('SQLite format 3'));
    expect(useStore.getState().toasts.map((toast) => toast.problem)).toEqual([problem]);
    expect(useStore.getState().open).toEqual(before);
  });
});
