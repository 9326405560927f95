/** An array of objects, a line each: only what is in sight is drawn. */
import { type ReactElement, useMemo, useRef } from 'react';
import { formatCount, plural } from '../format';
import { cellOf, tableOf } from './table';
import { useWindow } from './useWindow';

const ROW_HEIGHT = 24;
const INDEX_WIDTH = 44;

export function JsonTable({ rows, label }: { rows: unknown[]; label: string }): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const table = useMemo(() => tableOf(rows), [rows]);
  const { first, last } = useWindow(scroller, rows.length, ROW_HEIGHT);
  const widths = [INDEX_WIDTH, ...table.columns.map(({ width }) => width)];
  // The last column takes the room that is left.
  const template = widths.map((each, at) => (at === widths.length - 1 ? `minmax(${each}px, 1fr)` : `${each}px`)).join(' ');
  const width = widths.reduce((sum, each) => sum + each, 0);
  return (
    <>
      <div ref={scroller} className="json-table" role="table" aria-label={label} aria-rowcount={rows.length + 1} tabIndex={0}>
        <div className="json-table-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template, minWidth: width }}>
          <span role="columnheader">#</span>
          {table.columns.map(({ name, numeric }) => (
            <span key={name} role="columnheader" title={name} className={numeric ? 'json-numeric' : undefined}>
              {name}
            </span>
          ))}
        </div>
        <div role="rowgroup" style={{ height: rows.length * ROW_HEIGHT, minWidth: width }}>
          <div role="presentation" style={{ transform: `translateY(${first * ROW_HEIGHT}px)` }}>
            {rows.slice(first, last).map((row, at) => (
              <div key={first + at} className="json-table-row" role="row" aria-rowindex={first + at + 2} style={{ gridTemplateColumns: template }}>
                <span role="rowheader" className="json-index">
                  {formatCount(first + at)}
                </span>
                {table.columns.map(({ name, numeric }) => {
                  const { kind, text } = cellOf(row, name);
                  return (
                    <span key={name} role="cell" className={`json-${kind}${numeric ? ' json-numeric' : ''}`} title={text}>
                      {text}
                    </span>
                  );
                })}
              </div>
            ))}
          </div>
        </div>
      </div>
      {table.left > 0 && <p className="json-table-more">{plural(table.left, 'more column')} in the tree.</p>}
    </>
  );
}
