import { useEffect, useState } from 'react';
import type { FanOutPlace, Problem } from '../generated/protocol';
import { itemGrid } from '../state/actions';
import { type ItemCells, emptyCells, withChanges } from '../state/itemCells';
import { Poll } from '../state/poll';
import { shownView } from '../state/selectors';
import { useStore } from '../state/store';

/** Ten looks a second are as live as the eye needs, and leave the host in peace. */
const PAUSE_MILLIS = 100;

export interface Items {
  cells: ItemCells;
  /** The host has answered at least once. */
  loaded: boolean;
  problem: Problem | null;
}

/** The items of a fan-out, kept up to date: after the first answer only changes are asked for. */
export function useItemGrid(executionId: string, place: FanOutPlace): Items {
  const [items, setItems] = useState<Items>({ cells: emptyCells(place), loaded: false, problem: null });

  useEffect(() => {
    let cells = emptyCells(place);
    const poll = new Poll({
      ask: () => itemGrid(executionId, place, cells.position),
      mark: () => positionOf(executionId),
      show: (grid) => {
        cells = withChanges(cells, grid);
        setItems({ cells, loaded: true, problem: null });
      },
      fail: (problem) => setItems({ cells, loaded: true, problem }),
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [executionId, place]);

  return items.cells.place === place ? items : { cells: emptyCells(place), loaded: false, problem: null };
}

function positionOf(executionId: string): number | null {
  const view = shownView(useStore.getState());
  return view?.summary.execution_id === executionId ? view.position : null;
}
