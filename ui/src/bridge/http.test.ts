import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Update } from '../generated/protocol';
import type { Connection } from './bridge';
import { type Web, httpBridge } from './http';

class Source {
  static all: Source[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  closed = false;

  constructor() {
    Source.all.push(this);
  }

  close(): void {
    this.closed = true;
  }
}

const SNAPSHOT = { type: 'snapshot', data: { version: '', folder: '', runs_on: 'here', workflows: [], executions: [] } };
const json = (status: number, body: unknown): Response => new Response(JSON.stringify(body), { status });

function web(fetch: Web['fetch']): Web {
  return { fetch, eventSource: () => new Source() as unknown as EventSource };
}

beforeEach(() => {
  Source.all = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

describe('call', () => {
  it('posts JSON and gives the answer', async () => {
    const fetch = vi.fn<Web['fetch']>().mockResolvedValue(json(200, SNAPSHOT));
    await expect(httpBridge(web(fetch)).call({ type: 'snapshot' })).resolves.toEqual(SNAPSHOT);
    const [url, init] = fetch.mock.calls[0] ?? [];
    expect(url).toBe('api/call');
    expect(init?.headers).toEqual({ 'content-type': 'application/json' });
    expect(init?.body).toBe('{"type":"snapshot"}');
  });

  it('hands over a file as it is, and tells what became of it', async () => {
    const fetch = vi.fn<Web['fetch']>().mockResolvedValue(json(200, { type: 'started', data: { execution_id: 'x9' } }));
    const file = new Blob(['SQLite format 3']);
    await expect(httpBridge(web(fetch)).importFile?.(file)).resolves.toBe('x9');
    const [url, init] = fetch.mock.calls[0] ?? [];
    expect(url).toBe('api/import');
    expect(init?.body).toBe(file);
  });

  it('rejects with the problem of the host', async () => {
    const problem = { code: 'not_found', message: 'There is no such file.', hint: 'Check the path.' };
    const bridge = httpBridge(web(async () => json(404, problem)));
    await expect(bridge.call({ type: 'run', path: 'x' })).rejects.toMatchObject({ problem });
  });

  it.each([
    ['a page instead of JSON', async () => new Response('<html>', { status: 502 }), 'status 502'],
    ['JSON that is no answer', async () => json(200, [1]), 'status 200'],
    ['no host at all', async () => { throw new TypeError('refused'); }, 'does not answer'],
  ])('has words for %s', async (_, fetch, message) => {
    await expect(httpBridge(web(fetch)).call({ type: 'snapshot' })).rejects.toThrow(message);
  });
});

describe('subscribe', () => {
  function listen(fetch: Web['fetch']) {
    const connections: Connection['type'][] = [];
    const updates: Update[] = [];
    const stop = httpBridge(web(fetch)).subscribe({
      updates: (batch) => updates.push(...batch),
      connection: ({ type }) => connections.push(type),
    });
    return { connections, updates, stop };
  }

  it('goes live and hands updates on', async () => {
    const { connections, updates } = listen(async () => json(200, SNAPSHOT));
    await vi.advanceTimersByTimeAsync(0);
    Source.all[0]?.onopen?.();
    Source.all[0]?.onmessage?.({ data: '[{"type":"workflows","data":[]}]' });
    Source.all[0]?.onmessage?.({ data: 'not json' });
    expect(connections).toEqual(['connecting', 'live']);
    expect(updates).toEqual([{ type: 'workflows', data: [] }]);
  });

  it('reconnects after a lost connection, with growing pauses', async () => {
    const fetch = vi.fn<Web['fetch']>().mockResolvedValueOnce(json(200, SNAPSHOT));
    fetch.mockRejectedValueOnce(new TypeError('refused')).mockResolvedValue(json(200, SNAPSHOT));
    const { connections } = listen(fetch);
    await vi.advanceTimersByTimeAsync(0);
    Source.all[0]?.onopen?.();
    Source.all[0]?.onerror?.();
    expect(Source.all[0]?.closed).toBe(true);
    await vi.advanceTimersByTimeAsync(500);
    expect(Source.all).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Source.all).toHaveLength(2);
    Source.all[1]?.onopen?.();
    expect(connections).toEqual(['connecting', 'live', 'reconnecting', 'reconnecting', 'live']);
  });

  it('gives up when the host refuses us', async () => {
    const problem = { code: 'invalid_request', message: 'No token.', hint: 'Open the printed address.' };
    const { connections } = listen(async () => json(401, problem));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connections).toEqual(['connecting', 'refused']);
    expect(Source.all).toHaveLength(0);
  });

  it('is quiet once it is stopped', async () => {
    const { connections, stop } = listen(async () => { throw new TypeError('refused'); });
    await vi.advanceTimersByTimeAsync(0);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connections).toEqual(['connecting', 'reconnecting']);
  });
});
