import type { ReactElement } from 'react';
import { CopyButton } from '../CopyButton';
import { Icon } from '../icons';
import { expressionOf } from './path';
import type { Row } from './rows';

interface Props {
  row: Row;
  base: string;
  current: boolean;
  matched: boolean;
  onToggle: (row: Row) => void;
  onFocus: (row: Row) => void;
}

export function JsonRow({ row, base, current, matched, onToggle, onFocus }: Props): ReactElement {
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
      {!row.continuation && (
        <span className="json-actions">
          <CopyButton label="Copy value" text={() => textOf(row.value)} tabIndex={-1} />
          <CopyButton label={`Copy path ${expressionOf(base, row.steps)}`} icon="path" text={() => expressionOf(base, row.steps)} tabIndex={-1} />
        </span>
      )}
    </div>
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
