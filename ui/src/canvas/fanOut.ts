/** Which nodes may fire many times: those between a node that spreads items and the one that gathers them. */
import type { Workflow } from '../generated/protocol';
import { scopesOf } from '../shared/scopes';

export function fannedOutNodes(workflow: Workflow): ReadonlySet<string> {
  return new Set(scopesOf(workflow).keys());
}
