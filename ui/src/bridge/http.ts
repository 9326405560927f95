/** The loopback web host: one POST per call, server-sent events for updates, a cookie for who we are. */
import type { Problem, Request, Response, Update } from '../generated/protocol';
import { type Bridge, type Listener, ProblemError, isProblem, problemOf } from './bridge';

const FIRST_RETRY_MILLIS = 500;
const LAST_RETRY_MILLIS = 5_000;
const CALL_LIMIT_MILLIS = 30_000;
const UPLOAD_LIMIT_MILLIS = 300_000;

/** What the bridge needs from the browser; tests bring their own. */
export interface Web {
  fetch: typeof fetch;
  eventSource: (url: string) => EventSource;
}

const browser: Web = {
  fetch: (input, init) => fetch(input, init),
  eventSource: (url) => new EventSource(url),
};

export function httpBridge(web: Web = browser): Bridge {
  return {
    host: { mode: 'web', title: '', readOnly: false },
    call: (request) => post(web, request),
    importFile: (file) => upload(web, file),
    subscribe: (listener) => new Subscription(web, listener).start(),
  };
}

class RefusedError extends ProblemError {}

function post(web: Web, request: Request): Promise<Response> {
  return send(web, 'api/call', 'application/json', JSON.stringify(request), CALL_LIMIT_MILLIS);
}

async function send(web: Web, address: string, kind: string, body: BodyInit, limitMillis: number): Promise<Response> {
  let answer: globalThis.Response;
  try {
    answer = await web.fetch(address, {
      method: 'POST',
      headers: { 'content-type': kind },
      body,
      signal: AbortSignal.timeout(limitMillis),
    });
  } catch {
    throw new ProblemError(unreachable());
  }
  const said: unknown = await answer.json().catch(() => null);
  if (answer.ok && isResponse(said)) return said;
  const problem = isProblem(said) ? said : unexpected(answer.status);
  throw answer.status === 401 ? new RefusedError(problem) : new ProblemError(problem);
}

/** The file itself goes to the host: a page does not know where a file lies, and should not. */
async function upload(web: Web, file: Blob): Promise<string> {
  const response = await send(web, 'api/import', 'application/octet-stream', file, UPLOAD_LIMIT_MILLIS);
  if (response.type === 'started') return response.data.execution_id;
  throw new ProblemError(unexpected(200));
}

/** Keeps a stream of updates alive until it is stopped or the host refuses us. */
class Subscription {
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private delay = FIRST_RETRY_MILLIS;
  private stopped = false;

  private readonly web: Web;
  private readonly listener: Listener;

  constructor(web: Web, listener: Listener) {
    this.web = web;
    this.listener = listener;
  }

  start(): () => void {
    this.listener.connection({ type: 'connecting' });
    void this.connect();
    return () => this.stop();
  }

  /**
   * An EventSource does not tell why it failed, so a call goes first: it says whether the host is away (try again) or
   * does not know us any more (stop).
   */
  private async connect(): Promise<void> {
    try {
      await post(this.web, { type: 'snapshot' });
    } catch (thrown) {
      if (this.stopped) return;
      if (thrown instanceof RefusedError) {
        this.listener.connection({ type: 'refused', problem: thrown.problem });
        return;
      }
      this.retryLater(problemOf(thrown));
      return;
    }
    if (!this.stopped) this.listen();
  }

  private listen(): void {
    const source = this.web.eventSource('api/updates');
    this.source = source;
    source.onopen = () => {
      this.delay = FIRST_RETRY_MILLIS;
      this.listener.connection({ type: 'live' });
    };
    source.onmessage = (event: MessageEvent<string>) => {
      const updates = parseUpdates(event.data);
      if (updates.length > 0) this.listener.updates(updates);
    };
    source.onerror = () => {
      source.close();
      this.source = null;
      this.retryLater(unreachable());
    };
  }

  private retryLater(problem: Problem): void {
    if (this.stopped) return;
    this.listener.connection({ type: 'reconnecting', problem });
    this.timer = setTimeout(() => void this.connect(), this.delay);
    this.delay = Math.min(this.delay * 2, LAST_RETRY_MILLIS);
  }

  private stop(): void {
    this.stopped = true;
    this.source?.close();
    if (this.timer !== null) clearTimeout(this.timer);
  }
}

function parseUpdates(text: string): Update[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as Update[]) : [];
  } catch {
    return [];
  }
}

function isResponse(body: unknown): body is Response {
  return typeof body === 'object' && body !== null && 'type' in body && typeof body.type === 'string';
}

function unreachable(): Problem {
  return {
    code: 'infrastructure',
    message: 'Runeglass does not answer.',
    hint: 'Check that “runeglass serve” is still running in its terminal; the page reconnects by itself.',
  };
}

function unexpected(status: number): Problem {
  return {
    code: 'infrastructure',
    message: `The host answered with status ${status}.`,
    hint: 'Start “runeglass serve” and open the address it prints.',
  };
}
