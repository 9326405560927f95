/** The items of a fan-out: which are where, which failed and why. A chosen one is followed through the graph. */
import { type ReactElement, useMemo, useState } from 'react';
import type { FanOutPlace } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { formatCount, plural } from '../shared/format';
import { failureOf, stateOf } from '../shared/itemStates';
import { STATE_WORDS } from '../shared/states';
import { type ItemFilter, countsOf, samePlace, wantedItems } from '../state/itemCells';
import { placeOf, selectItem } from '../state/item';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { Breadcrumb } from './Breadcrumb';
import { CellSize } from './CellSize';
import { FailureGroups } from './FailureGroups';
import { FilterChips } from './FilterChips';
import { ItemCanvas } from './ItemCanvas';
import { JumpTo } from './JumpTo';
import { RerunItem } from './RerunItem';
import { useItemGrid } from './useItemGrid';
import './items.css';

export function ItemsPanel(): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  // As text, which is equal when it says the same: the place itself must stay the same object while it does.
  const written = useStore((state) => JSON.stringify(placeOf(state)));
  const place = useMemo(() => JSON.parse(written) as FanOutPlace | null, [written]);
  if (executionId === null || place === null) {
    return (
      <EmptyState icon="split" title="No items yet">
        Run the workflow: every item that a split sends out appears here.
      </EmptyState>
    );
  }
  return <Grid key={`${executionId} ${written}`} executionId={executionId} place={place} />;
}

const EVERYTHING: ItemFilter = { type: 'all' };

function Grid({ executionId, place }: { executionId: string; place: FanOutPlace }): ReactElement {
  const { cells, loaded, problem } = useItemGrid(executionId, place);
  const { codes, position, groups, total } = cells;
  const [filter, setFilter] = useState<ItemFilter>(EVERYTHING);
  const [focused, setFocused] = useState(0);
  const [hovered, setHovered] = useState<number | null>(null);
  const [size, setSize] = useState<number | null>(null);
  const selected = useStore(({ item }) => (item && samePlace(item.place, place) ? item.index : null));
  // The codes change in place, so it is the position that says when to count anew.
  const counts = useMemo(() => countsOf(codes), [codes, position]); // eslint-disable-line react-hooks/exhaustive-deps
  const shown = useMemo(() => wantedItems(codes, filter), [codes, position, filter]); // eslint-disable-line react-hooks/exhaustive-deps

  const describe = (index: number): string => {
    const code = codes[index] ?? 0;
    const failure = failureOf(code, groups);
    return `Item ${formatCount(index)}: ${STATE_WORDS[stateOf(code)].toLowerCase()}${failure ? `, ${failure.message}` : ''}`;
  };
  const go = (index: number): void => {
    setFocused(index);
    selectItem(place, index);
  };

  return (
    <section className="items" aria-label="Items" data-testid="items" data-total={total ?? ''}>
      <div className="items-bar">
        <Breadcrumb place={place} />
        <RerunItem place={place} />
        <span className="items-gap" />
        {total !== null && total > 0 && <JumpTo total={total} onJump={go} />}
        {total !== null && total > 0 && <CellSize size={size} onSize={setSize} />}
      </div>
      {problem && <EmptyState icon="error" title={problem.message}>{problem.hint}</EmptyState>}
      {!problem && loaded && total === null && <NotYet />}
      {!problem && total === 0 && (
        <EmptyState icon="split" title="No items">
          The array was empty, so nothing was sent out here.
        </EmptyState>
      )}
      {!problem && total !== null && total > 0 && (
        <>
          <div className="items-bar">
            <FilterChips counts={counts} total={total} filter={filter} onFilter={setFilter} />
            <p className="items-hover" aria-hidden="true">
              {describe(hovered ?? selected ?? focused)}
            </p>
          </div>
          <div className="items-body">
            {shown?.length === 0 ? (
              <p className="items-none">None of {plural(total, 'item')} is like that now.</p>
            ) : (
              <ItemCanvas
                codes={codes}
                position={position}
                shown={shown}
                selected={selected}
                focused={Math.min(focused, total - 1)}
                size={size}
                describe={describe}
                onFocus={setFocused}
                onHover={setHovered}
                onSelect={go}
              />
            )}
            {groups.length > 0 && <FailureGroups groups={groups} filter={filter} onFilter={setFilter} />}
          </div>
        </>
      )}
    </section>
  );
}

function NotYet(): ReactElement {
  const running = useStore((state) => shownSummary(state)?.phase === 'running');
  return running ? (
    <EmptyState icon="split" title="Not yet">
      The split has not fired here yet. Its items appear as soon as it does.
    </EmptyState>
  ) : (
    <EmptyState icon="split" title="No items">
      The split did not fire here, so it sent nothing out.
    </EmptyState>
  );
}
