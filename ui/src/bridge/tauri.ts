/** The desktop window: commands and a channel, both forwarded to the session in the same process. */
import { Channel, invoke } from '@tauri-apps/api/core';
import type { Request, Response, Update } from '../generated/protocol';
import { type Bridge, type Listener, ProblemError, problemOf } from './bridge';

export function tauriBridge(): Bridge {
  return {
    host: { mode: 'desktop', title: '', readOnly: false },
    call: (request) => invokeCall(request),
    subscribe,
  };
}

async function invokeCall(request: Request): Promise<Response> {
  try {
    return await invoke<Response>('call', { request });
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
