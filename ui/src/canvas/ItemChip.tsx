import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { titleOf } from '../shared/title';
import { nodeById, shownDefinition } from '../state/selectors';
import { clearItem, useStore } from '../state/store';

/** Says whose way is shown in the graph, and lets go of it. */
export function ItemChip(): ReactElement | null {
  const item = useStore((state) => state.item);
  const split = useStore((state) => nodeById(shownDefinition(state), state.item?.place.split ?? null));
  if (!item) return null;
  return (
    <div className="item-chip" role="status" data-testid="item-chip">
      <Icon name="split" />
      <span>
        The way of item <strong className="numbers">{formatCount(item.index)}</strong> of {split ? titleOf(split) : item.place.split}
      </span>
      <IconButton icon="close" label="Show all items (Esc)" onClick={clearItem} />
    </div>
  );
}
