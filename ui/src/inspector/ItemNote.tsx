import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { keyAt, nodeById, shownDefinition } from '../state/selectors';
import { clearItem, useStore } from '../state/store';
import { titleOf } from '../shared/title';

/** Says that what stands below is about one item, and leads back to all of them. */
export function ItemNote({ nodeId }: { nodeId: string }): ReactElement | null {
  const item = useStore((state) => (keyAt(state, nodeId) === null ? null : state.item));
  const split = useStore((state) => nodeById(shownDefinition(state), state.item?.place.split ?? null));
  if (!item) return null;
  return (
    <div className="item-note" data-testid="item-note">
      <Icon name="split" />
      <p>
        Item <strong className="numbers">{formatCount(item.index)}</strong> of {split ? titleOf(split) : item.place.split}
      </p>
      <Button onClick={clearItem}>All items</Button>
    </div>
  );
}
