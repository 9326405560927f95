/** Turns a JSON value into the rows that are visible: one line each, so that long trees can be windowed. */
import { formatBytes, formatCount } from '../format';
import { type Step, placeOf } from './path';

export type Kind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export interface Row {
  /** Unique among the rows. */
  id: string;
  place: string;
  steps: readonly Step[];
  depth: number;
  /** Null at the root, on the lines of an unfolded text and on groups. */
  name: Step | null;
  kind: Kind;
  /** What stands on the line: a literal, a preview, or a piece of a long text. */
  text: string;
  /** The true size of a folded text. */
  note: string;
  openable: boolean;
  open: boolean;
  /** A further line of the text above it, or a group of children; it has no actions of its own. */
  continuation: boolean;
  value: unknown;
}

export const LONG_TEXT = 140;
const LINE = 72;
const MOST_LINES = 2_000;
/** More children than this are put into groups, so that no value is ever laid out as a whole. */
export const GROUP = 1_000;
export const DEFAULT_DEPTH = 2;

/** Places the user has opened or closed; what is not listed is open down to the default depth. */
export type Openness = ReadonlyMap<string, boolean>;

export function rowsOf(value: unknown, openness: Openness): Row[] {
  const rows: Row[] = [];
  addRows(rows, value, [], 0, openness);
  return rows;
}

export function isOpen(openness: Openness, place: string, depth: number, kind: Kind): boolean {
  return openness.get(place) ?? ((kind === 'object' || kind === 'array') && depth < DEFAULT_DEPTH);
}

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'object';
  }
}

export function childCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function childrenOf(value: unknown): [Step, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  if (typeof value === 'object' && value !== null) return Object.entries(value);
  return [];
}

function addRows(rows: Row[], value: unknown, steps: readonly Step[], depth: number, openness: Openness): void {
  const kind = kindOf(value);
  const place = placeOf(steps);
  const openable = canOpen(kind, value);
  const open = openable && isOpen(openness, place, steps.length, kind);
  rows.push({
    id: place,
    place,
    steps,
    depth,
    name: steps.at(-1) ?? null,
    kind,
    text: open && kind === 'string' ? '' : lineOf(kind, value),
    note: kind === 'string' && openable ? sizeOf(value as string) : '',
    openable,
    open,
    continuation: false,
    value,
  });
  if (!open) return;
  if (kind === 'string') addLines(rows, value as string, steps, depth, place);
  else addChildren(rows, value, steps, depth, openness);
}

function addChildren(rows: Row[], value: unknown, steps: readonly Step[], depth: number, openness: Openness): void {
  const children = childrenOf(value);
  if (children.length <= GROUP) {
    for (const [step, child] of children) addRows(rows, child, [...steps, step], depth + 1, openness);
    return;
  }
  for (let start = 0; start < children.length; start += GROUP) {
    const members = children.slice(start, start + GROUP);
    const place = groupOf(steps, start);
    const open = openness.get(place) ?? false;
    const text = `${formatCount(start)} … ${formatCount(start + members.length - 1)}`;
    rows.push({ id: place, place, steps, depth: depth + 1, name: null, kind: kindOf(value), text, note: '', openable: true, open, continuation: true, value: null });
    if (open) for (const [step, child] of members) addRows(rows, child, [...steps, step], depth + 2, openness);
  }
}

/** Names the group of children from a multiple of the size of groups on. */
export function groupOf(steps: readonly Step[], start: number): string {
  return `${placeOf(steps)}@${start}`;
}

function canOpen(kind: Kind, value: unknown): boolean {
  if (kind === 'object' || kind === 'array') return childCount(value) > 0;
  return kind === 'string' && (value as string).length > LONG_TEXT;
}

/** A long text unfolds into lines of one height; the words of the text are kept, only its line ends are added. */
function addLines(rows: Row[], text: string, steps: readonly Step[], depth: number, place: string): void {
  const lines = text.split('\n').flatMap(chunks);
  lines.slice(0, MOST_LINES).forEach((line, index) => {
    rows.push({
      id: `${place}#${index}`,
      place,
      steps,
      depth: depth + 1,
      name: null,
      kind: 'string',
      text: line,
      note: '',
      openable: false,
      open: false,
      continuation: true,
      value: text,
    });
  });
}

function chunks(line: string): string[] {
  if (line.length <= LINE) return [line];
  const pieces: string[] = [];
  for (let at = 0; at < line.length; at += LINE) pieces.push(line.slice(at, at + LINE));
  return pieces;
}

function lineOf(kind: Kind, value: unknown): string {
  switch (kind) {
    case 'object':
      return previewOf(value as object);
    case 'array':
      return `Array(${formatCount((value as unknown[]).length)})`;
    case 'string': {
      const text = value as string;
      return text.length > LONG_TEXT ? `${JSON.stringify(text.slice(0, LONG_TEXT)).slice(0, -1)}…` : JSON.stringify(text);
    }
    default:
      return String(value ?? null);
  }
}

function previewOf(value: object): string {
  const keys = Object.keys(value);
  if (keys.length === 0) return '{}';
  const shown = keys.slice(0, 4).map((key) => (key.length > 18 ? `${key.slice(0, 17)}…` : key));
  return `{ ${shown.join(', ')}${keys.length > shown.length ? ', …' : ''} }`;
}

function sizeOf(text: string): string {
  return formatBytes(new TextEncoder().encode(text).length);
}
