import { beforeEach, describe, expect, it } from 'vitest';
import { type Bridge, type Listener, ProblemError } from '../bridge/bridge';
import type { ExecutionSummary, Request, Response } from '../generated/protocol';
import { cluster, summary, view } from '../testing/fixtures';
import { attachTo, connect, openExecution } from './actions';
import { canAttach, runnable, runningExecution } from './selectors';
import { useStore } from './store';
import { clusterAfter } from './updates';

const SEEN: ExecutionSummary = summary({ path: null, observed: { cluster: 'production', dialect: 'rune', joined_late: true, gaps: [] } });

/** A host that looks into a cluster and keeps nothing of it. */
class Watching implements Bridge {
  readonly host = { mode: 'web' as const, title: '', readOnly: false };
  listener: Listener | null = null;
  attached = true;

  call({ type }: Request): Promise<Response> {
    if (type === 'snapshot') {
      const executions = this.attached ? [SEEN] : [];
      return Promise.resolve({ type, data: { version: '1', folder: 'w', runs_on: 'here', workflows: [], executions } });
    }
    if (type === 'cluster') return Promise.resolve({ type, data: this.attached ? cluster() : null });
    if (type === 'execution' && this.attached) return Promise.resolve({ type, data: view({ summary: SEEN }) });
    return Promise.reject(new ProblemError({ code: 'not_found', message: 'it is gone', hint: '' }));
  }

  subscribe(listener: Listener): () => void {
    this.listener = listener;
    return () => undefined;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
let host: Watching;

beforeEach(async () => {
  host = new Watching();
  connect(host);
  host.listener?.connection({ type: 'live' });
  await settled();
});

describe('an attached cluster', () => {
  it('is found again by a page that is loaded again', () => {
    expect(useStore.getState().cluster?.connection.name).toBe('production');
    expect(canAttach(useStore.getState())).toBe(true);
  });

  it('has executions that can neither be run nor stopped from here', async () => {
    await openExecution('x1');
    expect(runnable(useStore.getState())).toEqual({ type: 'absent' });
    expect(runningExecution(useStore.getState())).toBeNull();
  });

  it('is left at once where nobody wants it any more when it lets us in', async () => {
    const asked: string[] = [];
    let letIn = (): void => undefined;
    const known = host.call.bind(host);
    host.call = (request) => {
      asked.push(request.type);
      if (request.type === 'detach') return Promise.resolve({ type: 'done' });
      if (request.type !== 'attach') return known(request);
      return new Promise((resolve) => {
        letIn = () => resolve({ type: 'cluster', data: cluster() });
      });
    };
    useStore.setState({ cluster: null });
    let wanted = true;
    const attached = attachTo(cluster().connection, {}, false, () => wanted);
    await settled();
    wanted = false;
    letIn();
    expect(await attached).toBe(false);
    expect(asked).toEqual(['attach', 'detach']);
    expect(useStore.getState().cluster).toBeNull();
  });

  it('takes along what was not kept, without a complaint', async () => {
    await openExecution('x1');
    host.attached = false;
    host.listener?.updates([{ type: 'cluster', data: null }]);
    await settled();
    const { cluster: left, executions, open, toasts } = useStore.getState();
    expect({ left, executions, open, toasts }).toEqual({ left: null, executions: [], open: { type: 'nothing' }, toasts: [] });
  });
});

describe('a host that does not answer any more', () => {
  it('leaves a cluster that is not live, until it answers again', async () => {
    const problem = { code: 'infrastructure' as const, message: 'Runeglass does not answer.', hint: '' };
    host.listener?.connection({ type: 'reconnecting', problem });
    const unheard = useStore.getState().cluster;
    expect(unheard?.ended).toBeGreaterThan(Date.now() - 5_000);
    expect([unheard?.queues_as_of, unheard?.redis_as_of]).toEqual([unheard?.ended, unheard?.ended]);
    expect(unheard?.troubles).toEqual([problem]);
    // It is told once, however often it is tried again.
    host.listener?.connection({ type: 'reconnecting', problem });
    expect(useStore.getState().cluster).toBe(unheard);
    host.listener?.connection({ type: 'live' });
    await settled();
    expect(useStore.getState().cluster?.ended).toBeNull();
  });

  it('has no cluster where it comes back without one', async () => {
    host.listener?.connection({ type: 'reconnecting', problem: { code: 'infrastructure', message: '', hint: '' } });
    host.attached = false;
    host.listener?.connection({ type: 'live' });
    await settled();
    expect(useStore.getState().cluster).toBeNull();
  });
});

describe('clusterAfter', () => {
  it('is what was said last, and stays where nothing is said', () => {
    const [before, after] = [cluster(), cluster({ heard: 2_000 })];
    expect(clusterAfter(before, [{ type: 'cluster', data: null }, { type: 'cluster', data: after }])).toBe(after);
    expect(clusterAfter(before, [])).toBe(before);
  });
});
