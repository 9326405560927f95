import type { ReactElement } from 'react';
import type { Observed } from '../generated/protocol';
import { plural } from './format';
import { gapWords } from './gapWords';
import { Icon } from './icons';
import './observed.css';

export const JOINED_LATE = 'It had begun before Runeglass looked: what was before is put together from what was left of it.';

/** Tells what was only looked at from what ran here. */
export function ObservedMark({ observed }: { observed: Observed }): ReactElement {
  const { cluster, joined_late } = observed;
  // That nobody looks any more is said by its phase.
  const gaps = observed.gaps.filter(({ until }) => until !== null);
  return (
    <span className="observed-mark">
      <span className="observed-cluster" title={`Seen on ${cluster}`}>
        <Icon name="eye" size={12} />
        <span className="visually-hidden">Seen on </span>
        {cluster}
      </span>
      {joined_late && (
        <span className="observed-late" title={JOINED_LATE}>
          joined late
        </span>
      )}
      {gaps.length > 0 && (
        <span className="observed-late" title={gaps.map(gapWords).join('\n')}>
          {plural(gaps.length, 'gap')}
        </span>
      )}
    </span>
  );
}
