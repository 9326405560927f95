/** Which nodes may fire many times: those between a split and the aggregator that closes it. */
import type { Workflow } from '../generated/protocol';
import { scopesOf } from '../shared/scopes';

export function fannedOutNodes(workflow: Workflow): ReadonlySet<string> {
  return new Set(scopesOf(workflow).keys());
}
