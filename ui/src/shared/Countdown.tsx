import type { ReactElement } from 'react';
import { formatCountdown, formatMoment } from './format';
import { useNow } from './useNow';

/** Only this text is drawn again with every beat, whatever it stands in. */
export function Countdown({ due }: { due: number }): ReactElement {
  const now = useNow();
  return (
    <time className="numbers" dateTime={isoOf(due)} title={formatMoment(due)}>
      {formatCountdown(due, now)}
    </time>
  );
}

/** A recording may hold a moment that no calendar knows. */
function isoOf(at: number): string | undefined {
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
