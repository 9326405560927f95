/** The firings of one node, counted by state. */
import type { Counts, NodeState } from '../generated/protocol';
import { formatCount } from './format';

export type CountKey = keyof Counts;

/** In the order they are told; a word, and the state whose icon stands for it. */
export const COUNT_WORDS: readonly { key: CountKey; word: string; icon: NodeState }[] = [
  { key: 'running', word: 'running', icon: 'running' },
  { key: 'waiting', word: 'waiting', icon: 'waiting_timer' },
  { key: 'success', word: 'done', icon: 'success' },
  { key: 'failed', word: 'failed', icon: 'failed' },
  { key: 'skipped', word: 'skipped', icon: 'skipped' },
  { key: 'queued', word: 'queued', icon: 'queued' },
];

export function totalOf(counts: Counts): number {
  return COUNT_WORDS.reduce((total, { key }) => total + counts[key], 0);
}

/** `3 running, 20 done of 23` */
export function spokenCounts(counts: Counts): string {
  const parts = COUNT_WORDS.filter(({ key }) => counts[key] > 0).map(({ key, word }) => `${formatCount(counts[key])} ${word}`);
  return `${parts.join(', ')} of ${formatCount(totalOf(counts))}`;
}
