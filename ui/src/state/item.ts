/** The fan-out that is shown, and the item in it that is followed. */
import { useEffect } from 'react';
import type { FanOutPlace, ItemDetail } from '../generated/protocol';
import { own } from '../shared/record';
import { scopeOf, splitsOf } from '../shared/scopes';
import { itemDetail } from './actions';
import { samePlace } from './itemCells';
import { Poll } from './poll';
import { shownDefinition, shownSummary, shownView, tellingNode } from './selectors';
import { type State, selectNode, useStore } from './store';

const PAUSE_MILLIS = 250;

/** Where nobody has chosen: the outermost fan-out around the selected node, else the first one. */
export function placeOf(state: State): FanOutPlace | null {
  if (state.place) return state.place;
  const definition = shownDefinition(state);
  const around = state.selectedNode === null ? [] : scopeOf(definition, state.selectedNode);
  const splits = splitsOf(definition);
  const isSplit = state.selectedNode !== null && splits.includes(state.selectedNode);
  const split = around[0] ?? (isSplit ? state.selectedNode : null) ?? splits[0];
  return split === undefined || split === null ? null : { split, parent: [] };
}

export function selectItem(place: FanOutPlace, index: number): void {
  const { item } = useStore.getState();
  if (item && samePlace(item.place, place) && item.index === index) return;
  // The place is kept: selecting the node an item is at must not lead to another fan-out.
  useStore.setState({ place, item: { place, index, detail: null } });
}

/** Keeps what is known of the selected item up to date, whichever panels are open. */
export function useFollowItem(): void {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  const place = useStore((state) => state.item?.place ?? null);
  const index = useStore((state) => state.item?.index ?? null);
  useEffect(() => {
    if (executionId === null || place === null || index === null) return undefined;
    let first = true;
    const { selectedNode } = useStore.getState();
    const poll = new Poll({
      ask: () => itemDetail(executionId, place, index),
      mark: () => markOf(executionId),
      show: (detail) => {
        showDetail(detail);
        // Who has gone to another node meanwhile wants to be there.
        if (first && useStore.getState().selectedNode === selectedNode) selectTellingNode(detail);
        first = false;
      },
      // The item may have gone with its execution; what is shown of it goes too.
      fail: () => useStore.setState({ item: null }),
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [executionId, place, index]);
}

function markOf(executionId: string): number | null {
  const view = shownView(useStore.getState());
  return view?.summary.execution_id === executionId ? view.position : null;
}

function showDetail(detail: ItemDetail): void {
  useStore.setState((state) => (state.item ? { item: { ...state.item, detail } } : state));
}

/** Who compares items at one node stays there, as long as the item has been there. */
function selectTellingNode(detail: ItemDetail): void {
  const state = useStore.getState();
  const here = state.selectedNode === null ? undefined : own(detail.nodes, state.selectedNode);
  if (here && here.state !== 'skipped' && detail.error === null) return;
  const telling = tellingNode(detail, shownDefinition(state));
  if (telling !== null) selectNode(telling);
}
