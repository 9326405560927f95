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

export function overdueReason({ working, queued }: Pick<WaitBoard, 'working' | 'queued'>): string {
  if (!working) return 'the engine has stopped: start Runeglass again, and it goes on';
  if (queued > 0) return `woken; ${plural(queued, 'message')} ahead of it in the queue`;
  return 'due, and not taken up yet';
}
