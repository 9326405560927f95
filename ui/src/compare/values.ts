import { rowsOf } from '../shared/json/rows';
import { placeOf } from '../shared/json/path';

const CLOSED = new Map([[placeOf([]), false]]);
const LONGEST = 40;

/** A value in a few characters; what is not there is said to be nothing. */
export function shortValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  const text = rowsOf(value, CLOSED)[0]?.text ?? '';
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
