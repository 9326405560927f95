/** A JSON value as a tree of text: opened two levels, searched, copied by value or by path. */
import { type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { copyText } from '../CopyButton';
import { JsonRow, textOf } from './JsonRow';
import { JsonSearch } from './JsonSearch';
import { expressionOf, placeOf } from './path';
import { type Openness, type Row, rowsOf } from './rows';
import { findMatches, placesAbove } from './search';
import { useWindow } from './useWindow';
import './json.css';

export const ROW_HEIGHT = 22;

interface Props {
  value: unknown;
  /** The expression of the whole value; empty for a context, whose keys are references themselves. */
  base: string;
  label: string;
  /** Stands beside the search, such as the size and a button. */
  aside?: ReactNode;
}

export function JsonTree({ value, base, label, aside }: Props): ReactElement {
  const [openness, setOpenness] = useState<Openness>(new Map());
  const [current, setCurrent] = useState<string | null>(null);
  const [wanted, setWanted] = useState('');
  const [matchIndex, setMatchIndex] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);

  const rows = useMemo(() => rowsOf(value, openness), [value, openness]);
  const matches = useMemo(() => findMatches(value, wanted), [value, wanted]);
  const matched = matches[matchIndex] ? placeOf(matches[matchIndex]) : null;
  const { first, last } = useWindow(scroller, rows.length, ROW_HEIGHT);
  const currentIndex = Math.max(0, rows.findIndex((row) => row.id === current));

  const setOpen = (row: Row, open: boolean): void =>
    setOpenness((before) => new Map(before).set(row.place, open));

  const goToMatch = (found: typeof matches, index: number): void => {
    const steps = found[index];
    setMatchIndex(index);
    if (!steps) return;
    setOpenness((before) => new Map([...before, ...placesAbove(steps).map((place) => [place, true] as const)]));
    setCurrent(placeOf(steps));
  };
  const search = (next: string): void => {
    setWanted(next);
    goToMatch(findMatches(value, next), 0);
  };
  const step = (by: number): void => {
    if (matches.length > 0) goToMatch(matches, (matchIndex + by + matches.length) % matches.length);
  };

  useEffect(() => {
    if (current !== null) revealRow(scroller.current, currentIndex);
  }, [current, currentIndex]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[currentIndex];
    if (!row) return;
    const wish = wishOf(event, rows, currentIndex);
    if (!wish) return;
    event.preventDefault();
    event.stopPropagation();
    switch (wish.type) {
      case 'go':
        setCurrent(rows[wish.index]?.id ?? null);
        break;
      case 'open':
        setOpen(row, wish.open);
        break;
      case 'copy':
        void copyText(wish.path ? expressionOf(base, row.steps) : textOf(row.value));
        break;
    }
  };

  return (
    <div className="json-tree">
      <JsonSearch wanted={wanted} count={matches.length} index={matchIndex} onChange={search} onStep={step}>
        {aside}
      </JsonSearch>
      <div
        ref={scroller}
        className="json-scroll"
        role="tree"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className="json-rows" style={{ height: rows.length * ROW_HEIGHT }}>
          <div style={{ transform: `translateY(${first * ROW_HEIGHT}px)` }}>
            {rows.slice(first, last).map((row, index) => (
              <JsonRow
                key={row.id}
                row={row}
                base={base}
                current={current !== null && first + index === currentIndex}
                matched={matched !== null && row.place === matched}
                onToggle={(target) => setOpen(target, !target.open)}
                onFocus={(target) => setCurrent(target.id)}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

type Wish = { type: 'go'; index: number } | { type: 'open'; open: boolean } | { type: 'copy'; path: boolean };

/** The keys of a tree: up and down walk, right opens or enters, left closes or leaves, Ctrl+C copies. */
function wishOf(event: KeyboardEvent, rows: Row[], index: number): Wish | null {
  const row = rows[index];
  if (!row) return null;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') {
    // A selection made with the pointer is what the user means to copy.
    return document.getSelection()?.isCollapsed === false ? null : { type: 'copy', path: event.shiftKey };
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case 'ArrowDown':
      return { type: 'go', index: Math.min(index + 1, rows.length - 1) };
    case 'ArrowUp':
      return { type: 'go', index: Math.max(index - 1, 0) };
    case 'Home':
      return { type: 'go', index: 0 };
    case 'End':
      return { type: 'go', index: rows.length - 1 };
    case 'ArrowRight':
      return row.openable && !row.open ? { type: 'open', open: true } : { type: 'go', index: Math.min(index + 1, rows.length - 1) };
    case 'ArrowLeft':
      return row.openable && row.open ? { type: 'open', open: false } : { type: 'go', index: parentIndex(rows, index) };
    case 'Enter':
    case ' ':
      return row.openable ? { type: 'open', open: !row.open } : null;
    default:
      return null;
  }
}

function parentIndex(rows: Row[], index: number): number {
  const depth = rows[index]?.depth ?? 0;
  for (let at = index - 1; at >= 0; at -= 1) {
    if ((rows[at]?.depth ?? 0) < depth) return at;
  }
  return index;
}

function revealRow(scroller: HTMLElement | null, index: number): void {
  if (!scroller) return;
  const top = index * ROW_HEIGHT;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top + ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight) {
    scroller.scrollTop = top + ROW_HEIGHT - scroller.clientHeight;
  }
}
