/** A time in which something went by unseen, in words. */
import type { Gap } from '../generated/protocol';
import { formatSeconds, plural } from './format';

export function gapWords({ from, until, dropped, why }: Gap): string {
  const when = until === null ? `since ${formatSeconds(from)}` : `${formatSeconds(from)} to ${formatSeconds(until)}`;
  const lost = dropped === 0 ? '' : `, ${unseenWords(dropped)}`;
  return `${when}${lost}: ${why}`;
}

export function unseenWords(count: number): string {
  return `${plural(count, 'message')} ${count === 1 ? 'was' : 'were'} not seen`;
}
