import type { ReactElement } from 'react';
import type { NodeView } from '../generated/protocol';
import { totalOf } from '../shared/counts';
import { asSentence, errorWord } from '../shared/errorWords';
import { formatCount } from '../shared/format';

/** Why a node tries again, told at the node on hover and on focus. */
export function RetryReason({ view }: { view: NodeView }): ReactElement | null {
  if (view.retrying === 0 || !view.error) return null;
  const what = totalOf(view.counts) > 1 ? `${formatCount(view.retrying)} to be tried again` : `Attempt ${view.attempts} failed`;
  return (
    <span className="card-bubble card-reason" role="tooltip" data-testid="retry-reason">
      <span className="card-bubble-line card-reason-head">
        {what} · {errorWord(view.error.code)}
      </span>
      <span className="card-bubble-line card-reason-text">{asSentence(view.error.message)}</span>
    </span>
  );
}
