import type { ReactElement } from 'react';
import { formatCount } from '../shared/format';
import { ITEM_STATES } from '../shared/itemStates';
import { STATE_WORDS, StateIcon } from '../shared/states';
import type { ItemCounts, ItemFilter } from '../state/itemCells';

interface Props {
  counts: ItemCounts;
  total: number;
  filter: ItemFilter;
  onFilter: (filter: ItemFilter) => void;
}

/** How many items are in which state; pressed, only those are shown. */
export function FilterChips({ counts, total, filter, onFilter }: Props): ReactElement {
  return (
    <div className="chips" role="group" aria-label="Show only">
      <button type="button" className="chip" aria-pressed={filter.type === 'all'} onClick={() => onFilter({ type: 'all' })}>
        All <span className="numbers">{formatCount(total)}</span>
      </button>
      {ITEM_STATES.filter((state) => counts[state] !== undefined || (filter.type === 'state' && filter.state === state)).map((state) => {
        const pressed = filter.type === 'state' && filter.state === state;
        return (
          <button
            key={state}
            type="button"
            className={`chip state-${state}`}
            title={STATE_WORDS[state]}
            aria-pressed={pressed}
            data-testid={`items-${state}`}
            onClick={() => onFilter(pressed ? { type: 'all' } : { type: 'state', state })}
          >
            <StateIcon state={state} />
            <span className="chip-word">{STATE_WORDS[state]}</span>
            <span className="numbers">{formatCount(counts[state] ?? 0)}</span>
          </button>
        );
      })}
    </div>
  );
}
