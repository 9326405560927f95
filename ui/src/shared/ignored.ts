/** What a join did not take, in words. */
import type { EdgeView, Node, NodeView } from '../generated/protocol';
import { formatCount } from './format';
import { titleOf } from './title';

/** `2`, or `2 of 7` where others were taken. */
export function ignoredShare({ ignored, messages }: EdgeView): string {
  return ignored >= messages ? formatCount(ignored) : `${formatCount(ignored)} of ${formatCount(messages)}`;
}

/** A join that failed had stopped waiting; any other had what it needed. */
export function whyIgnored(target: Node, view: NodeView | undefined): string {
  const gaveUp = view?.error?.code === 'TIMEOUT_EXCEEDED';
  return gaveUp ? `“${titleOf(target)}” had given up waiting` : `“${titleOf(target)}” already had its winner`;
}
