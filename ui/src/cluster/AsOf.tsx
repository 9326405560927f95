import type { ReactElement } from 'react';
import { formatMoment, formatSeconds } from '../shared/format';
import { Icon } from '../shared/icons';

/** When numbers were read that cannot be read at the moment. */
export function AsOf({ at }: { at: number | null }): ReactElement | null {
  if (at === null) return null;
  return (
    <time className="cluster-as-of numbers" title={formatMoment(at)}>
      <Icon name="warning" size={12} /> as of {formatSeconds(at)}
    </time>
  );
}
