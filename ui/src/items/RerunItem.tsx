import type { ReactElement } from 'react';
import type { FanOutPlace } from '../generated/protocol';
import { Button } from '../shared/Button';
import { formatCount } from '../shared/format';
import { itemToRerun, prepareRerun } from '../state/fork';
import { samePlace } from '../state/itemCells';
import { useStore } from '../state/store';

/** The chosen item of this fan-out, once more; absent until one is chosen. */
export function RerunItem({ place }: { place: FanOutPlace }): ReactElement | null {
  const index = useStore((state) => (state.item && samePlace(state.item.place, place) && itemToRerun(state) !== null ? state.item.index : null));
  if (index === null) return null;
  const label = `Re-run item ${formatCount(index)} alone, on this machine…`;
  return (
    <Button icon="replay" className="items-again" title={label} aria-label={label} data-testid="rerun-item" onClick={() => prepareRerun(null)}>
      Re-run {formatCount(index)}…
    </Button>
  );
}
