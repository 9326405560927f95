import type { ReactElement } from 'react';
import { formatMoment, formatSeconds } from '../shared/format';
import { Icon } from '../shared/icons';
import { isLeft, lastSeen } from '../state/selectors';
import { useStore } from '../state/store';

/** Says that the graph shows what was seen last, and not what is. */
export function LeftChip(): ReactElement | null {
  const left = useStore(isLeft);
  const seen = useStore(lastSeen);
  if (!left) return null;
  return (
    <div className="past-chip left-chip" role="status" data-testid="left-chip" title={seen === null ? undefined : formatMoment(seen)}>
      <Icon name="eye" />
      <span className="numbers">As it was seen last{seen !== null && `, at ${formatSeconds(seen)}`}</span>
    </div>
  );
}
