/** A fork that is being prepared. Nothing has happened until it is started. */
import type { ForkEdit, ForkPlace, ForkWish } from '../generated/protocol';
import { isEqual } from '../shared/json/diff';
import { shownSummary } from './selectors';
import { type ForkDraft, type State, useStore } from './store';

export function prepareFork(fork: ForkDraft | null): void {
  useStore.setState({ fork });
}

/** A recording from a file can be looked at, and nothing more; a host that keeps what a cluster does has no engine to fork in. */
export function canFork(state: State): boolean {
  return !state.host.readOnly && state.runsOn === 'here' && shownSummary(state) !== null;
}

/** From the event under the scrubber; of what is over, its last event. */
export function prepareForkHere(): void {
  const { open, past } = useStore.getState();
  if (open.type !== 'execution') return;
  const position = past?.view.position ?? open.view?.position;
  if (position !== undefined) prepareFork({ executionId: open.executionId, from: 'event', position });
}

/** What can be changed at an event, as a value; undefined where nothing can. */
export function editable(place: ForkPlace): unknown {
  switch (place.type) {
    case 'input':
    case 'context':
    case 'output':
      return place.data.type === 'whole' ? place.data.data.json : undefined;
    case 'failure':
      return null;
    case 'nothing':
      return undefined;
  }
}

/** The change to an event; null where the value is what it was. */
export function editOf(place: ForkPlace, value: unknown): ForkEdit | null {
  const before = editable(place);
  if (before === undefined || isEqual(before, value)) return null;
  switch (place.type) {
    case 'input':
      return { type: 'input', value };
    case 'context':
      return { type: 'context', entries: changedEntries(before, value) };
    case 'output':
    case 'failure':
      return { type: 'output', value };
    case 'nothing':
      return null;
  }
}

/** Only what was changed is written into the context: everything else stays what the nodes before it make of it. */
function changedEntries(before: unknown, after: unknown): Record<string, unknown> {
  const old = (typeof before === 'object' && before !== null ? before : {}) as Record<string, unknown>;
  const fresh = (typeof after === 'object' && after !== null ? after : {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(fresh).filter(([key, value]) => !isEqual(old[key], value)));
}

/** What is asked of the host. `edit` and `run` say something about a fork from an event only. */
export function wishOf(draft: ForkDraft, edit: ForkEdit | null, run: readonly string[]): ForkWish {
  switch (draft.from) {
    case 'event':
      return { type: 'at', position: draft.position, edit, run: [...run] };
    case 'node':
      return { type: 'from', node_id: draft.nodeId };
    case 'failed':
      return { type: 'failed', node_id: draft.nodeId };
    case 'item':
      return { type: 'item', key: draft.key, node_id: draft.nodeId };
  }
}

/** The key of the item that is followed, where it can run again. */
export function itemToRerun(state: State): string | null {
  return canFork(state) ? (state.item?.detail?.key ?? null) : null;
}

/** From a node on, or all of its way where none is named. */
export function prepareRerun(nodeId: string | null): void {
  const state = useStore.getState();
  const [key, executionId] = [itemToRerun(state), shownSummary(state)?.execution_id];
  if (key !== null && executionId !== undefined) prepareFork({ executionId, from: 'item', key, nodeId });
}
