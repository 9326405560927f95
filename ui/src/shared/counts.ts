/** The firings of one node, counted by state. */
import type { Counts } from '../generated/protocol';
import { formatCount } from './format';
import type { ShownState } from './shownState';

export type CountKey = keyof Counts | 'retrying';

export interface Share {
  key: CountKey;
  word: string;
  /** The state whose icon stands for it. */
  icon: ShownState;
  count: number;
}

/** In the order they are told. */
const WORDS: readonly Omit<Share, 'count'>[] = [
  { key: 'running', word: 'running', icon: 'running' },
  { key: 'retrying', word: 'trying again', icon: 'retrying' },
  { key: 'waiting', word: 'waiting', icon: 'waiting_timer' },
  { key: 'success', word: 'done', icon: 'success' },
  { key: 'failed', word: 'failed', icon: 'failed' },
  { key: 'skipped', word: 'skipped', icon: 'skipped' },
  { key: 'queued', word: 'queued', icon: 'queued' },
];

export interface Counted {
  counts: Counts;
  retrying: number;
}

export function totalOf({ queued, running, waiting, success, failed, skipped }: Counts): number {
  return queued + running + waiting + success + failed + skipped;
}

/** Where the firings are, without the empty places. Who rests before another attempt waits too, and is told apart here. */
export function sharesOf({ counts, retrying }: Counted): Share[] {
  const numbers: { [K in CountKey]: number } = { ...counts, retrying, waiting: Math.max(counts.waiting - retrying, 0) };
  return WORDS.map((words) => ({ ...words, count: numbers[words.key] })).filter(({ count }) => count > 0);
}

/** `3 running, 20 done of 23` */
export function spokenCounts(counted: Counted): string {
  const parts = sharesOf(counted).map(({ word, count }) => `${formatCount(count)} ${word}`);
  return `${parts.join(', ')} of ${formatCount(totalOf(counted.counts))}`;
}
