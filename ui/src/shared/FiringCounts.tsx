import type { ReactElement } from 'react';
import { type Counted, sharesOf, spokenCounts, totalOf } from './counts';
import { formatCompact } from './format';
import { StateIcon } from './states';
import './counts.css';

/** Where many firings are, as icons with numbers. What is queued is the rest, and is told on hover. */
export function FiringCounts({ of }: { of: Counted }): ReactElement {
  const shown = sharesOf(of).filter(({ key }) => key !== 'queued');
  const exactly = spokenCounts(of);
  return (
    <span className="counts numbers" role="img" aria-label={exactly} title={exactly}>
      {shown.map(({ key, icon, count }) => (
        <span key={key} className={`counts-part state-${icon}`} data-count={key}>
          <StateIcon state={icon} />
          {formatCompact(count)}
        </span>
      ))}
      <span className="counts-total">of {formatCompact(totalOf(of.counts))}</span>
    </span>
  );
}
