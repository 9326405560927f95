/** A JSON value as a tree of text: opened two levels, searched, copied by value, by path or as an expression. */
import { type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { copyText } from '../CopyButton';
import { JsonRow, textOf } from './JsonRow';
import { JsonSearch } from './JsonSearch';
import { type Step, expressionOf, pathOf, placeOf } from './path';
import { type Openness, type Row, rowsOf } from './rows';
import { findMatches, placesAbove } from './search';
import { isTable } from './table';
import { useWindow } from './useWindow';
import './json.css';

export const ROW_HEIGHT = 22;

interface Props {
  value: unknown;
  /** The expression of the whole value; empty for a context, whose keys are references themselves; null where none reads it. */
  base: string | null;
  label: string;
  /** Stands beside the search, such as the size and a button. */
  aside?: ReactNode;
  /** Wants to see an array of objects as a table. */
  onTable?: (steps: readonly Step[]) => void;
}

export function JsonTree({ value, base, label, aside, onTable }: Props): ReactElement {
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
    setOpenness((before) => new Map([...before, ...placesAbove(value, steps).map((place) => [place, true] as const)]));
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
        if (!row.continuation) void copyText(copied(row, base, wish.what));
        break;
      case 'table':
        onTable?.(row.steps);
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
                onTable={onTable}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

type Copied = 'value' | 'path' | 'expression';
type Wish = { type: 'go'; index: number } | { type: 'open'; open: boolean } | { type: 'copy'; what: Copied } | { type: 'table' };

function copied(row: Row, base: string | null, what: Copied): string {
  if (what === 'value') return textOf(row.value);
  return what === 'path' || base === null ? pathOf(row.steps) : expressionOf(base, row.steps);
}

/** Ctrl+C copies the value, with Shift the path, with Alt the expression that reads it. */
function copyWish(event: KeyboardEvent): Wish | null {
  // A selection made with the pointer is what the user means to copy.
  if (document.getSelection()?.isCollapsed === false) return null;
  return { type: 'copy', what: event.shiftKey ? 'path' : event.altKey ? 'expression' : 'value' };
}

/** The keys of a tree: up and down walk, right opens or enters, left closes or leaves, T makes a table. */
function wishOf(event: KeyboardEvent, rows: Row[], index: number): Wish | null {
  const row = rows[index];
  if (!row) return null;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c') return copyWish(event);
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
    case 't':
      return isTable(row.value) ? { type: 'table' } : null;
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
