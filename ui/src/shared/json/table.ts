/** An array of objects as rows and columns. */
import type { Step } from './path';
import { kindOf, type Kind } from './rows';

export interface Table {
  columns: Column[];
  rows: unknown[];
  /** Columns that found no room. */
  left: number;
}

export interface Column {
  name: string;
  width: number;
  /** Numbers stand under each other. */
  numeric: boolean;
}

const MOST_COLUMNS = 24;
/** Columns are those of the first rows; what comes later and knows others is told by the tree. */
const LOOKED_AT = 200;
const NARROWEST = 52;
const WIDEST = 220;
const LETTER = 7.3;
const HEAD_LETTER = 8.4;

/** Objects and nothing else, each of them with something in it. */
export function isTable(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.slice(0, LOOKED_AT).every((row) => kindOf(row) === 'object' && Object.keys(row as object).length > 0);
}

export function tableOf(rows: unknown[]): Table {
  const names = new Set(rows.slice(0, LOOKED_AT).flatMap((row) => (kindOf(row) === 'object' ? Object.keys(row as object) : [])));
  const columns = [...names].slice(0, MOST_COLUMNS).map((name) => columnOf(rows, name));
  return { columns, rows, left: names.size - columns.length };
}

export interface Cell {
  kind: Kind | 'absent';
  text: string;
}

export function cellOf(row: unknown, name: string): Cell {
  if (typeof row !== 'object' || row === null || !Object.hasOwn(row, name)) return { kind: 'absent', text: '–' };
  const value = (row as { [key: string]: unknown })[name];
  const kind = kindOf(value);
  switch (kind) {
    case 'object':
      return { kind, text: Object.keys(value as object).length === 0 ? '{}' : '{ … }' };
    case 'array':
      return { kind, text: `Array(${(value as unknown[]).length})` };
    case 'string':
      return { kind, text: (value as string).slice(0, LOOKED_AT) };
    case 'number':
    case 'boolean':
    case 'null':
      return { kind, text: String(value ?? null) };
  }
}

export function valueAt(value: unknown, steps: readonly Step[]): unknown {
  return steps.reduce<unknown>((here, step) => {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    return (here as { [key: string]: unknown })[step];
  }, value);
}

function columnOf(rows: unknown[], name: string): Column {
  const cells = rows.slice(0, LOOKED_AT).map((row) => cellOf(row, name));
  const longest = cells.reduce<number>((most, cell) => Math.max(most, cell.text.length * LETTER), name.length * HEAD_LETTER);
  const width = Math.round(Math.min(Math.max(longest + 20, NARROWEST), WIDEST));
  return { name, width, numeric: cells.every(({ kind }) => kind === 'number' || kind === 'absent') };
}
