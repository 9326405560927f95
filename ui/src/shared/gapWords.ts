/** A time in which something went by unseen, in words. */
import type { Gap } from '../generated/protocol';
import { formatSeconds, plural } from './format';

export function gapWords(gap: Gap): string {
  return words(gap, unseenWords(gap.dropped));
}

/** The same of what happened here and could not be written. */
export function unkeptWords(gap: Gap): string {
  return words(gap, `${plural(gap.dropped, 'event')} ${gap.dropped === 1 ? 'was' : 'were'} not kept`);
}

function words({ from, until, dropped, why }: Gap, lost: string): string {
  return `${whenWords(from, until)}${dropped === 0 ? '' : `, ${lost}`}: ${why}`;
}

function whenWords(from: number, until: number | null): string {
  if (until === null) return `since ${formatSeconds(from)}`;
  const [begun, over] = [formatSeconds(from), formatSeconds(until)];
  return begun === over ? `at ${begun}` : `${begun} to ${over}`;
}

export function unseenWords(count: number): string {
  return `${plural(count, 'message')} ${count === 1 ? 'was' : 'were'} not seen`;
}
