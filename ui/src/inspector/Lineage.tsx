import { type ReactElement, Fragment } from 'react';
import type { Frame } from '../generated/protocol';
import { formatCount } from '../shared/format';
import { titleOf } from '../shared/title';
import { selectItem } from '../state/item';
import { nodeById, shownDefinition } from '../state/selectors';
import { showBottom, useStore } from '../state/store';

/** The items a firing stands in, outermost first; each of them can be followed. */
export function Lineage({ frames, lineageKey }: { frames: Frame[]; lineageKey: string }): ReactElement {
  const definition = useStore(shownDefinition);
  if (frames.length === 0) return <>root</>;
  return (
    <span className="lineage" title={lineageKey}>
      {frames.map((frame, level) => {
        const split = nodeById(definition, frame.split_node_id);
        const follow = (): void => {
          showBottom('items');
          selectItem({ split: frame.split_node_id, parent: frames.slice(0, level).map((each) => each.item_index) }, frame.item_index);
        };
        return (
          <Fragment key={level}>
            {level > 0 && <span aria-hidden="true">›</span>}
            <button type="button" className="lineage-level" title="Follow this item through the graph" onClick={follow}>
              {split ? titleOf(split) : frame.split_node_id} <strong>{formatCount(frame.item_index)}</strong> of {formatCount(frame.total_items)}
            </button>
          </Fragment>
        );
      })}
    </span>
  );
}
