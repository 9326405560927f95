import { type ReactElement, useMemo } from 'react';
import type { PayloadView } from '../generated/protocol';
import { formatBytes, formatDuration } from '../shared/format';
import { StateIcon } from '../shared/states';
import { httpAnswerOf } from './httpAnswer';

/** Status, duration and size at a glance; the rest is in the tree below. */
export function HttpLine({ payload }: { payload: PayloadView }): ReactElement | null {
  const answer = useMemo(() => httpAnswerOf(payload), [payload]);
  if (!answer) return null;
  const { status, statusText, durationMillis, bodyBytes } = answer;
  const state = status < 400 ? 'success' : 'failed';
  return (
    <p className="http-line numbers" data-testid="http-line">
      <span className={`state-label http-status state-${state}`} title={statusText}>
        <StateIcon state={state} />
        <span className="http-words">{statusText}</span>
      </span>
      {durationMillis !== null && <span>{formatDuration(durationMillis)}</span>}
      {bodyBytes !== null && <span>{formatBytes(bodyBytes)} body</span>}
    </p>
  );
}
