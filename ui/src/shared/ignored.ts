/** What a join did not take, in words. */
import type { EdgeView, Node } from '../generated/protocol';
import { formatCount } from './format';
import { titleOf } from './title';

/** `2`, or `2 of 7` where others were taken. */
export function ignoredShare({ ignored, messages }: EdgeView): string {
  return ignored >= messages ? formatCount(ignored) : `${formatCount(ignored)} of ${formatCount(messages)}`;
}

/** Why the join did not take them: it had its winner, or had given up, or one after the other at different keys. */
export function whyIgnored(target: Node, { ignored, late }: EdgeView): string {
  const lost = ignored - late;
  const parts = [
    ...(lost > 0 ? [`${late > 0 ? `${formatCount(lost)} lost the race: ` : ''}“${titleOf(target)}” already had its winner`] : []),
    ...(late > 0 ? [`${lost > 0 ? `${formatCount(late)} came too late: ` : ''}“${titleOf(target)}” had given up waiting`] : []),
  ];
  return parts.join('; ');
}

/** In two words, on the edge itself. */
export function ignoredWords({ ignored, late }: EdgeView): string {
  return late >= ignored ? 'too late' : late > 0 ? 'not taken' : 'lost race';
}
