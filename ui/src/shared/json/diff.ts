/** What is different between two values, as the lines of one tree: equal parts are folded away. */
import { formatCount } from '../format';
import { type Step, placeOf } from './path';
import { type Kind, childCount, childrenOf, kindOf, rowsOf } from './rows';

export type Mark = 'same' | 'added' | 'removed' | 'inside';

export interface DiffRow {
  id: string;
  mark: Mark;
  depth: number;
  name: Step | null;
  kind: Kind;
  text: string;
}

export interface Difference {
  rows: DiffRow[];
  added: number;
  removed: number;
  changed: number;
  /** There is more than anybody reads; it was not looked into. */
  cut: boolean;
}

const MOST_ROWS = 5_000;
const DEEPEST = 64;
/** A part that came or went is told by its first lines. */
const MOST_OF_PART = 40;

export function differenceOf(before: unknown, after: unknown): Difference {
  const found: Difference = { rows: [], added: 0, removed: 0, changed: 0, cut: false };
  compare(found, before, after, []);
  return found;
}

export function isEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (Object.is(a, b)) return true;
  const kind = kindOf(a);
  if (kind !== kindOf(b) || (kind !== 'object' && kind !== 'array') || childCount(a) !== childCount(b) || depth > DEEPEST) return false;
  return childrenOf(a).every(([step, child]) => has(b, step) && isEqual(child, read(b, step), depth + 1));
}

function compare(found: Difference, before: unknown, after: unknown, steps: readonly Step[]): void {
  if (found.rows.length > MOST_ROWS) {
    found.cut = true;
    return;
  }
  const kind = kindOf(before);
  const opens = kind === kindOf(after) && (kind === 'object' || kind === 'array') && steps.length < DEEPEST;
  if (!opens) {
    if (Object.is(before, after)) return;
    found.changed += 1;
    addPart(found, 'removed', before, steps);
    addPart(found, 'added', after, steps);
    return;
  }
  const name = steps.at(-1) ?? null;
  found.rows.push({ id: placeOf(steps), mark: 'inside', depth: steps.length, name, kind, text: kind === 'array' ? '[ ]' : '{ }' });
  compareChildren(found, before, after, steps);
}

function compareChildren(found: Difference, before: unknown, after: unknown, steps: readonly Step[]): void {
  const names = new Set<Step>([...childrenOf(before), ...childrenOf(after)].map(([step]) => step));
  let same = 0;
  const flush = (): void => {
    if (same > 0) addSame(found, same, steps);
    same = 0;
  };
  for (const step of names) {
    const [old, fresh] = [has(before, step), has(after, step)];
    if (old && fresh && isEqual(read(before, step), read(after, step))) {
      same += 1;
      continue;
    }
    flush();
    const inner = [...steps, step];
    if (old && fresh) compare(found, read(before, step), read(after, step), inner);
    else if (old) {
      found.removed += 1;
      addPart(found, 'removed', read(before, step), inner);
    } else {
      found.added += 1;
      addPart(found, 'added', read(after, step), inner);
    }
  }
  flush();
}

function addSame(found: Difference, count: number, steps: readonly Step[]): void {
  const text = `${formatCount(count)} equal`;
  found.rows.push({ id: `${placeOf(steps)}=${found.rows.length}`, mark: 'same', depth: steps.length + 1, name: null, kind: 'null', text });
}

function addPart(found: Difference, mark: 'added' | 'removed', value: unknown, steps: readonly Step[]): void {
  const lines = rowsOf(value, new Map());
  for (const row of lines.slice(0, MOST_OF_PART)) {
    const name = row.steps.length === 0 && !row.continuation ? (steps.at(-1) ?? null) : row.name;
    found.rows.push({ id: `${mark}${placeOf(steps)}${row.id}`, mark, depth: steps.length + row.depth, name, kind: row.kind, text: row.text });
  }
  const left = lines.length - MOST_OF_PART;
  if (left > 0) found.rows.push({ id: `${mark}${placeOf(steps)}…`, mark, depth: steps.length + 1, name: null, kind: 'null', text: `… ${formatCount(left)} more lines` });
}

function has(value: unknown, step: Step): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step);
}

function read(value: unknown, step: Step): unknown {
  return (value as { [key: string]: unknown })[step];
}
