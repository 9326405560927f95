import type { ClusterView, Observed } from '../generated/protocol';

/** Since when nobody looks at what runs on a cluster; null while somebody does, and of what runs here. */
export function leftSince(observed: Observed | null | undefined): number | null {
  const last = observed?.gaps.at(-1);
  return last && last.until === null ? last.from : null;
}

/** Whether somebody looks now: who runs here is always seen, and who runs on a cluster while that is. */
export function isSeen(observed: Observed | null | undefined, attached: ClusterView | null): boolean {
  if (!observed) return true;
  return attached?.connection.name === observed.cluster && seenUntil(observed, attached) === null;
}

/** Until when it was seen, on its own clock; null where that is not over, or nobody has said when it was. */
export function seenUntil(observed: Observed | null | undefined, attached: ClusterView | null): number | null {
  const left = leftSince(observed);
  if (left !== null || attached === null || observed?.cluster !== attached.connection.name) return left;
  const unseen = unseenSince(attached);
  return unseen === null ? null : unseen + attached.ahead;
}

/**
 * Since when executions of the attached cluster go on unseen; null while they are seen. Messages tell of Rune services, and
 * the log in Redis of our own workers.
 */
export function unseenSince({ ended, dialect, queues_as_of, redis_as_of }: ClusterView): number | null {
  if (ended !== null) return ended;
  switch (dialect) {
    case 'rune':
      return queues_as_of;
    case 'runeglass':
      return redis_as_of;
    case null:
      return queues_as_of ?? redis_as_of;
  }
}
