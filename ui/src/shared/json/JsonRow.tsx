import type { ReactElement } from 'react';
import { IconButton } from '../Button';
import { CopyButton } from '../CopyButton';
import { Icon } from '../icons';
import { type Step, expressionOf, pathOf } from './path';
import type { Row } from './rows';
import { isTable } from './table';

interface Props {
  row: Row;
  base: string | null;
  current: boolean;
  matched: boolean;
  onToggle: (row: Row) => void;
  onFocus: (row: Row) => void;
  onTable?: (steps: readonly Step[]) => void;
}

export function JsonRow({ row, base, current, matched, onToggle, onFocus, onTable }: Props): ReactElement {
  return (
    <div
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.openable ? row.open : undefined}
      aria-selected={current}
      className={`json-row${current ? ' json-current' : ''}${matched ? ' json-matched' : ''}`}
      style={{ paddingInlineStart: 4 + row.depth * 14 }}
      onClick={() => {
        onFocus(row);
        if (row.openable) onToggle(row);
      }}
    >
      <span className="json-twist">{row.openable && <Icon name={row.open ? 'down' : 'right'} size={12} />}</span>
      {row.name !== null && (
        <>
          <span className={typeof row.name === 'number' ? 'json-index' : 'json-name'}>{row.name}</span>
          <span className="json-colon">:</span>
        </>
      )}
      <span className={`json-value json-${row.kind}`}>{row.text}</span>
      {row.note !== '' && <span className="json-note">{row.note}</span>}
      {!row.continuation && <Actions row={row} base={base} onTable={onTable} />}
    </div>
  );
}

/** For the pointer; the keyboard has a key for each. */
function Actions({ row, base, onTable }: Pick<Props, 'row' | 'base' | 'onTable'>): ReactElement {
  const expression = base === null ? null : expressionOf(base, row.steps);
  return (
    <span className="json-actions">
      {onTable && isTable(row.value) && (
        <IconButton
          icon="table"
          label="Show as a table (T)"
          tabIndex={-1}
          onClick={(event) => {
            event.stopPropagation();
            onTable(row.steps);
          }}
        />
      )}
      <CopyButton label="Copy value (Ctrl+C)" text={() => textOf(row.value)} tabIndex={-1} />
      <CopyButton label={`Copy path ${pathOf(row.steps)}`} icon="path" text={() => pathOf(row.steps)} tabIndex={-1} />
      {expression !== null && <CopyButton label={`Copy expression ${expression}`} icon="braces" text={() => expression} tabIndex={-1} />}
    </span>
  );
}

/** A text is copied as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, null, 2) ?? 'null';
  } catch {
    return 'This value is nested too deeply to be copied.';
  }
}
