/** Two values as one tree: what is only in the first, what is only in the second. Marks and words, not only colours. */
import { type ReactElement, useMemo, useRef } from 'react';
import { formatCount } from '../format';
import { type Difference, type DiffRow, type Mark, differenceOf } from './diff';
import { useWindow } from './useWindow';
import './json.css';

const ROW_HEIGHT = 22;
const SIGNS: { [K in Mark]: string } = { same: '', inside: '', added: '+', removed: '−' };
/** How the first and the second value are called. */
type SideNames = readonly [string, string];
const BEFORE_AND_NOW: SideNames = ['before', 'now'];

interface Props {
  before: unknown;
  after: unknown;
  label: string;
  sides?: SideNames;
}

export function JsonDiff({ before, after, label, sides = BEFORE_AND_NOW }: Props): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const difference = useMemo(() => differenceOf(before, after), [before, after]);
  const { rows } = difference;
  const { first, last } = useWindow(scroller, rows.length, ROW_HEIGHT);
  const none = difference.added + difference.removed + difference.changed === 0;
  return (
    <div className="json-tree" data-testid="json-diff">
      <p className="json-diff-head" role="status">
        {none ? 'Both are equal.' : summaryOf(difference)}
      </p>
      {!none && (
        <div ref={scroller} className="json-scroll" role="list" aria-label={label} tabIndex={0}>
          <div className="json-rows" style={{ height: rows.length * ROW_HEIGHT }}>
            <div style={{ transform: `translateY(${first * ROW_HEIGHT}px)` }}>
              {rows.slice(first, last).map((row) => (
                <DiffLine key={row.id} row={row} sides={sides} />
              ))}
            </div>
          </div>
        </div>
      )}
    </div>
  );
}

function DiffLine({ row, sides }: { row: DiffRow; sides: SideNames }): ReactElement {
  const named = sides !== BEFORE_AND_NOW && (row.mark === 'added' || row.mark === 'removed');
  const word = row.mark === 'removed' ? sides[0] : row.mark === 'added' ? sides[1] : '';
  return (
    <div role="listitem" className={`json-row json-diff-${row.mark}`} style={{ paddingInlineStart: 4 + row.depth * 14 }}>
      <span className="json-sign">
        <span aria-hidden="true">{named ? word : SIGNS[row.mark]}</span>
        <span className="visually-hidden">{word}</span>
      </span>
      {row.name !== null && (
        <>
          <span className={typeof row.name === 'number' ? 'json-index' : 'json-name'}>{row.name}</span>
          <span className="json-colon">:</span>
        </>
      )}
      <span className={row.mark === 'same' ? 'json-equal' : `json-value json-${row.kind}`}>{row.text}</span>
    </div>
  );
}

function summaryOf({ changed, added, removed, cut }: Difference): string {
  const parts = [
    [changed, 'changed'],
    [added, 'added'],
    [removed, 'removed'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return `${words.join(', ')}${cut ? ', and more that is not listed' : ''}.`;
}
