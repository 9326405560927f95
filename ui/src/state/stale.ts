/** Why the values of a node are not what a run would give now. */
import type { MockAnswer, StaleNode } from '../generated/protocol';
import { nodeTitle } from '../shared/controlWords';
import { shownDefinition } from './selectors';
import type { State } from './store';

export function staleReason(state: State, { node_id, because, removed }: StaleNode): string {
  const who = node_id === because ? 'it' : `“${nodeTitle(shownDefinition(state), because)}”`;
  const answer = state.control.controls.mocks.find((mock) => mock.node_id === because)?.answer;
  const what = removed || answer === undefined ? 'is not pinned or mocked any more' : setWords(answer.type);
  return `Stale: since this execution began, ${who} ${what}. Run again to see what it gives now.`;
}

function setWords(type: MockAnswer['type']): string {
  switch (type) {
    case 'output':
      return 'was pinned, or pinned to something else';
    case 'error':
      return 'was made to fail';
    case 'latency':
      return 'was made to take longer';
  }
}
