import { Fragment, type ReactElement } from 'react';
import type { FanOutPlace } from '../generated/protocol';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { own } from '../shared/record';
import { scopeOf, splitsOf } from '../shared/scopes';
import { titleOf } from '../shared/title';
import { samePlace } from '../state/itemCells';
import { nodeById, shownDefinition } from '../state/selectors';
import { showPlace, useStore } from '../state/store';

/** From the outermost fan-out to this one, and on into the fan-outs inside the chosen item. */
export function Breadcrumb({ place }: { place: FanOutPlace }): ReactElement {
  const definition = useStore(shownDefinition);
  const detail = useStore(({ item }) => (item && samePlace(item.place, place) ? item.detail : null));
  const title = (id: string): string => {
    const node = nodeById(definition, id);
    return node ? titleOf(node) : id;
  };
  const outer = scopeOf(definition, place.split).map((split, level) => ({ split, parent: place.parent.slice(0, level) }));
  const tops = splitsOf(definition).filter((split) => scopeOf(definition, split).length === 0);
  const inner = splitsOf(definition).filter((split) => detail && own(detail.inner, split) !== undefined);
  return (
    <nav className="crumbs" aria-label="Fan-outs">
      {outer.map((each, level) => (
        <Fragment key={level}>
          <button type="button" className="crumb" onClick={() => showPlace(each)}>
            {title(each.split)} <span className="numbers">#{formatCount(place.parent[level] ?? 0)}</span>
          </button>
          <Icon name="right" size={12} />
        </Fragment>
      ))}
      {outer.length === 0 && tops.length > 1 ? (
        <select
          className="crumb-choice"
          aria-label="Fan-out"
          value={place.split}
          onChange={(event) => showPlace({ split: event.target.value, parent: [] })}
        >
          {tops.map((split) => (
            <option key={split} value={split}>
              {title(split)}
            </option>
          ))}
        </select>
      ) : (
        <strong className="crumb-here">{title(place.split)}</strong>
      )}
      {detail &&
        inner.map((split) => (
          <Fragment key={split}>
            <Icon name="right" size={12} />
            <button
              type="button"
              className="crumb"
              data-testid={`inner-${split}`}
              onClick={() => showPlace({ split, parent: [...place.parent, detail.index] })}
            >
              {title(split)} in <span className="numbers">#{formatCount(detail.index)}</span> ({formatCount(own(detail.inner, split) ?? 0)})
            </button>
          </Fragment>
        ))}
    </nav>
  );
}
