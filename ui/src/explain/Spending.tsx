/** A stretch of time in parts: queue, work, timers, and for joins the time between first and last. */
import type { ReactElement } from 'react';
import { formatDuration } from '../shared/format';

export interface Parts {
  queue: number;
  run: number;
  timer: number;
  barrier?: number;
}

const PARTS = [
  ['queue', 'in the queue'],
  ['run', 'at work'],
  ['timer', 'waiting for a timer'],
  ['barrier', 'gathering'],
] as const;

/** `longest` is what takes the whole width. */
export function Spending({ of, longest }: { of: Parts; longest: number }): ReactElement {
  const spoken = PARTS.filter(([part]) => (of[part] ?? 0) > 0).map(([part, words]) => `${formatDuration(of[part] ?? 0)} ${words}`);
  const words = spoken.length === 0 ? 'no time to speak of' : spoken.join(', ');
  const total = PARTS.reduce((sum, [part]) => sum + (of[part] ?? 0), 0);
  return (
    <span className="spending" role="img" aria-label={words} title={words}>
      {PARTS.map(([part]) => (
        <i key={part} className={`spending-${part}`} style={{ flexGrow: of[part] ?? 0 }} />
      ))}
      <i style={{ flexGrow: Math.max(longest - total, 0) }} />
    </span>
  );
}

export function SpendingLegend(): ReactElement {
  return (
    <p className="spending-legend" aria-hidden="true">
      <i className="spending-queue" /> queue <i className="spending-run" /> work <i className="spending-timer" /> timer <i className="spending-barrier" /> gathering
    </p>
  );
}
