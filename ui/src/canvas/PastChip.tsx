import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { formatClock, formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { backToNow } from '../state/past';
import { useStore } from '../state/store';

/** Says that the page shows a moment that is over, whichever panel is open. */
export function PastChip(): ReactElement | null {
  const past = useStore((state) => state.past);
  // It may have gone on since this moment was asked for.
  const last = useStore(({ open }) => (open.type === 'execution' ? (open.view?.position ?? 0) : 0));
  if (!past) return null;
  return (
    <div className="past-chip" role="status" data-testid="past-chip">
      <Icon name="replay" />
      <span className="numbers">
        As it was at {formatClock(past.at)} · event {formatCount(past.view.position)} of {formatCount(Math.max(past.last, last))}
      </span>
      <Button onClick={backToNow}>To now</Button>
    </div>
  );
}
