import type { ReactElement } from 'react';
import { formatElapsed, formatMoment } from '../shared/format';
import { useNow } from '../shared/useNow';

/** How long it has been held, on the one clock of the page. */
export function Since({ at }: { at: number }): ReactElement {
  const now = useNow();
  const elapsed = formatElapsed(now - at);
  return (
    <time className="numbers" title={formatMoment(at)}>
      {elapsed === '' ? 'just now' : `for ${elapsed}`}
    </time>
  );
}
