/** A cluster in words. */
import type { ClusterDialect, ClusterView, QueueView, Rule } from '../generated/protocol';
import { formatCount, plural } from '../shared/format';
import { unseenWords } from '../shared/gapWords';

export function dialectWords(dialect: ClusterDialect | null): string {
  switch (dialect) {
    case 'runeglass':
      return 'Runeglass workers';
    case 'rune':
      return 'Rune services';
    case null:
      return 'nothing heard yet that tells whose workers they are';
  }
}

/** Everything that was found wrong, listed or not. */
export function foundTotal({ findings, unlisted }: Pick<ClusterView, 'findings' | 'unlisted'>): number {
  return Object.values(unlisted).reduce((sum, more) => sum + more, findings.length);
}

export const RULE_WORDS: { [K in Rule]: string } = {
  barrier_cannot_open: 'Join cannot open',
  counted_twice: 'Counted twice',
  shared_counter: 'Shared counter',
  several_completions: 'Several ends',
  early_completion: 'Ended too early',
  overdue_timer: 'Overdue timer',
  lost_resume: 'Lost resume',
  no_consumer: 'No consumer',
  discarded: 'Messages lost',
  parked: 'Parked messages',
  slow_item: 'Takes too long',
  no_end: 'No end announced',
};

/** Less than this a second is noise. */
const STEADY = 0.05;

/** Nothing is in it, and nothing was a moment ago. */
export function isQuiet({ messages, growth }: QueueView): boolean {
  return messages === 0 && Math.abs(growth) <= STEADY;
}

/** With sign and word: +12.5 a second, growing. */
export function growthWords({ growth, messages }: QueueView): { sign: string; word: string } {
  const rate = Math.abs(growth) < 10 ? Math.abs(growth).toFixed(1) : formatCount(Math.round(Math.abs(growth)));
  if (growth > STEADY) return { sign: `+${rate} /s`, word: 'growing' };
  if (growth < -STEADY) return { sign: `−${rate} /s`, word: 'emptying' };
  return { sign: '±0 /s', word: messages === 0 ? 'empty' : 'steady' };
}

/** Our own workers keep a log, which is read; of theirs only messages tell. */
export function heardWords(cluster: ClusterView): string {
  const { dropped, unread } = cluster;
  const parts = [sourceWords(cluster), dropped === 0 ? '' : unseenWords(dropped), unread === 0 ? '' : `${formatCount(unread)} could not be read`];
  return parts.filter((part) => part !== '').join(', ');
}

function sourceWords({ dialect, heard, ended, queues_as_of, redis_as_of }: ClusterView): string {
  if (dialect === 'runeglass') {
    if (ended !== null) return 'their log is not seen any more';
    return redis_as_of === null ? 'their log is followed' : 'their log cannot be read now';
  }
  const so_far = `${plural(heard, 'message')} heard`;
  return queues_as_of === null ? so_far : `${so_far}, ${ended === null ? 'none can be heard now' : 'no more are heard'}`;
}

/** A start that had begun before tells of a message that came twice: its own, or one before it. */
export function begunAgainWords({ redelivered }: Pick<ClusterView, 'redelivered'>): string {
  if (redelivered === 0) return 'None seen';
  if (redelivered === 1) return '1 start was begun again: its message, or one that led to it, was delivered twice';
  return `${formatCount(redelivered)} starts were begun again: their messages, or some that led to them, were delivered twice`;
}

/** Null where it is not known yet whether anybody puts messages aside. */
export function deadLetterWords({ dead_letters, dialect }: Pick<ClusterView, 'dead_letters' | 'dialect'>): string | null {
  if (dead_letters === null) return dialect === 'rune' ? 'Rune keeps no dead letters: what a worker refuses is gone' : null;
  return dead_letters === 0 ? 'None put aside' : `${plural(dead_letters, 'message')} put aside in the parking queue`;
}

/** The queue that all work goes through, behind a prefix where there is one. */
const WORK = 'workflow.execution';

/** Where nothing names a worker. Messages of the Rune services never do: there are as many as take work. */
export function workerWords({ dialect, queues }: ClusterView): string {
  if (dialect !== 'rune') return 'Workers appear here as soon as something is heard of them.';
  const work = queues.find(({ name }) => name.endsWith(WORK));
  if (!work) return 'Rune services do not say which worker does what, and the queue of work was not seen yet.';
  if (work.consumers === 0) return `Nobody takes work from ${work.name}.`;
  return `${plural(work.consumers, 'consumer')} ${work.consumers === 1 ? 'takes' : 'take'} work from ${work.name}. Rune services do not say which worker does what.`;
}
