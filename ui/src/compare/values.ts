import { rowsOf } from '../shared/json/rows';
import { placeOf } from '../shared/json/path';

const CLOSED = new Map([[placeOf([]), false]]);
const LONGEST = 26;
/** Two of this length stand side by side as a whole, also beside open panels. */
const SHORT = 18;
/** What is left of what both begin with, so that one sees where in the value one is. */
const LEAD = 5;

/** Two values in a few characters each; where both are long and begin alike, from where they differ. */
export function shortPair(a: unknown, b: unknown): [string, string] {
  const [before, after] = [textOf(a), textOf(b)];
  const alike = commonLength(before, after) - LEAD;
  const cut = alike > LEAD && Math.max(before.length, after.length) > SHORT ? alike : 0;
  return [shortened(before, cut), shortened(after, cut)];
}

/** What is not there is said to be nothing. */
function textOf(value: unknown): string {
  return value === null || value === undefined ? 'nothing' : (rowsOf(value, CLOSED)[0]?.text ?? '');
}

function shortened(text: string, cut: number): string {
  const rest = cut === 0 ? text : `…${text.slice(cut)}`;
  return rest.length > LONGEST ? `${rest.slice(0, LONGEST - 1)}…` : rest;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
