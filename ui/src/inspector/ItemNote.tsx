import type { ReactElement } from 'react';
import { Button, IconButton } from '../shared/Button';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { itemToRerun, prepareRerun } from '../state/fork';
import { itemStateAt, keyAt, nodeById, shownDefinition } from '../state/selectors';
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
      <RerunHere nodeId={nodeId} />
      <Button onClick={clearItem}>All items</Button>
    </div>
  );
}

/** Absent where the item has not been here: there is nothing to do again. */
function RerunHere({ nodeId }: { nodeId: string }): ReactElement | null {
  const able = useStore((state) => itemToRerun(state) !== null && itemStateAt(state, nodeId) !== null && itemStateAt(state, nodeId) !== 'skipped');
  if (!able) return null;
  const label = 'Re-run this item from this node on, on this machine…';
  return <IconButton icon="replay" label={label} data-testid="rerun-here" onClick={() => prepareRerun(nodeId)} />;
}
