import type { ReactElement } from 'react';
import type { Counts } from '../generated/protocol';
import { COUNT_WORDS, spokenCounts, totalOf } from './counts';
import { formatCompact } from './format';
import { StateIcon } from './states';
import './counts.css';

/** Where many firings are, as icons with numbers. What is queued is the rest, and is told on hover. */
export function FiringCounts({ counts }: { counts: Counts }): ReactElement {
  const shown = COUNT_WORDS.filter(({ key }) => key !== 'queued' && counts[key] > 0);
  const exactly = spokenCounts(counts);
  return (
    <span className="counts numbers" role="img" aria-label={exactly} title={exactly}>
      {shown.map(({ key, icon }) => (
        <span key={key} className={`counts-part state-${icon}`} data-count={key}>
          <StateIcon state={icon} />
          {formatCompact(counts[key])}
        </span>
      ))}
      <span className="counts-total">of {formatCompact(totalOf(counts))}</span>
    </span>
  );
}
