/** Finds a word in names and values, also where the tree is closed. */
import { type Step, placeOf } from './path';
import { GROUP, childCount, childrenOf, groupOf, kindOf } from './rows';

export const MOST_MATCHES = 1_000;
const MOST_VISITS = 200_000;
const DEEPEST = 256;

/** The steps to every match, in the order they are read. A stack of our own, because a value may be deeper than the
 * language's. */
export function findMatches(value: unknown, wanted: string): Step[][] {
  const needle = wanted.trim().toLowerCase();
  if (needle === '') return [];
  const matches: Step[][] = [];
  const stack: { value: unknown; steps: Step[] }[] = [{ value, steps: [] }];
  for (let visits = 0; visits < MOST_VISITS && matches.length < MOST_MATCHES; visits += 1) {
    const next = stack.pop();
    if (!next) break;
    if (isMatch(next.value, next.steps.at(-1), needle)) matches.push(next.steps);
    if (next.steps.length >= DEEPEST) continue;
    for (const [step, child] of childrenOf(next.value).reverse()) {
      stack.push({ value: child, steps: [...next.steps, step] });
    }
  }
  return matches;
}

/** Every place above a match has to be open for it to be seen, also the groups of large values. */
export function placesAbove(value: unknown, steps: readonly Step[]): string[] {
  const places: string[] = [];
  let here = value;
  for (const [index, step] of steps.entries()) {
    const above = steps.slice(0, index);
    places.push(placeOf(above));
    if (childCount(here) > GROUP) places.push(groupOf(above, Math.floor(positionOf(here, step) / GROUP) * GROUP));
    here = (here as { [key: string]: unknown } | null)?.[step];
  }
  return places;
}

function positionOf(value: unknown, step: Step): number {
  return typeof step === 'number' ? step : Object.keys(value as object).indexOf(step);
}

function isMatch(value: unknown, name: Step | undefined, needle: string): boolean {
  if (typeof name === 'string' && name.toLowerCase().includes(needle)) return true;
  const kind = kindOf(value);
  if (kind === 'object' || kind === 'array') return false;
  return String(value).toLowerCase().includes(needle);
}
