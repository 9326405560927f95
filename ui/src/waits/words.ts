import type { TimerView, WaitBoard } from '../generated/protocol';
import { formatCount, plural } from '../shared/format';

/** A timer may be a beat late without anybody to blame. */
const GRACE_MILLIS = 1_000;

export function isOverdue({ due }: Pick<TimerView, 'due'>, now: number): boolean {
  return now - due > GRACE_MILLIS;
}

/** Something of its execution is held, so its time does not pass. */
export function stands({ purpose }: Pick<TimerView, 'purpose'>): boolean {
  return purpose.type === 'deadline' && purpose.data.stands;
}

/** Whoever claimed it did not see it through, so that nobody comes for what it should have resumed. */
export function isLost({ keeper }: Pick<TimerView, 'keeper'>): boolean {
  return keeper === 'nobody';
}

/** Time is ours in an engine of this machine only. */
export function canBeFired({ keeper }: Pick<TimerView, 'keeper'>): boolean {
  return keeper === 'here';
}

/** What is lost first, because it does not come by itself; the others as they are due. */
export function inOrder(timers: readonly TimerView[]): TimerView[] {
  return [...timers.filter(isLost), ...timers.filter((timer) => !isLost(timer))];
}

export { LOST_REASON } from '../shared/LostLabel';

/** What happens when it is due. */
export function purposeOf({ purpose }: Pick<TimerView, 'purpose'>): string {
  switch (purpose.type) {
    case 'rest':
      return 'goes on';
    case 'retry':
      return `attempt ${purpose.data.attempt}, after: ${purpose.data.error.message}`;
    case 'deadline':
      return `${purpose.data.stands ? 'would give up' : 'gives up'} with ${formatCount(purpose.data.arrived)} of ${formatCount(purpose.data.expected)}`;
  }
}

/** `unseen`: what becomes of timers of the cluster cannot be seen at the moment. */
export function overdueReason({ keeper }: Pick<TimerView, 'keeper'>, { working, queued }: Pick<WaitBoard, 'working' | 'queued'>, unseen = false): string {
  // What is queued here is none of a cluster's business.
  if (keeper !== 'here') return unseen ? 'due; whether anybody has claimed it cannot be seen at the moment' : 'due, and no worker has claimed it';
  if (!working) return 'the engine has stopped: start Runeglass again, and it goes on';
  if (queued > 0) return `woken; ${plural(queued, 'message')} ahead of it in the queue`;
  return 'due, and not taken up yet';
}
