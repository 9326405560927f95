/** The desktop window: commands and a channel, both forwarded to the session in the same process. */
import { Channel, invoke } from '@tauri-apps/api/core';
import type { OpenedFile, RecentFile, Request, Response, Update } from '../generated/protocol';
import { type Bridge, type Listener, ProblemError, problemOf } from './bridge';

export function tauriBridge(): Bridge {
  return {
    host: { mode: 'desktop', title: '', readOnly: false },
    call: (request) => invokeCall(request),
    importFile,
    edit: (path) => asked(() => invoke('edit', { path })),
    files: {
      asked: () => asked(() => invoke<OpenedFile | null>('asked')),
      recent: () => asked(() => invoke<RecentFile[]>('recent')),
      reopen: (path) => asked(() => invoke<OpenedFile>('reopen', { path })),
      forget: (path) => asked(() => invoke('forget', { path })),
    },
    subscribe,
  };
}

function invokeCall(request: Request): Promise<Response> {
  return asked(() => invoke<Response>('call', { request }));
}

async function importFile(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  const response = await asked(() => invoke<Response>('import', bytes));
  return response.type === 'started' ? response.data.execution_id : '';
}

async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    throw new ProblemError(problemOf(thrown));
  }
}

function subscribe(listener: Listener): () => void {
  let ended = false;
  const channel = new Channel<Update[]>();
  channel.onmessage = (updates) => {
    if (!ended) listener.updates(updates);
  };
  listener.connection({ type: 'connecting' });
  invoke('subscribe', { channel }).then(
    () => {
      if (!ended) listener.connection({ type: 'live' });
    },
    (thrown: unknown) => {
      if (!ended) listener.connection({ type: 'refused', problem: problemOf(thrown) });
    },
  );
  return () => {
    ended = true;
  };
}
