/** The letters a host writes for the states of items, in the words of the page. */
import type { FailureGroup } from '../generated/protocol';
import type { ShownState } from './shownState';

/** In the order they are told: what needs a look comes first. */
export const ITEM_STATES: readonly ShownState[] = [
  'failed',
  'retrying',
  'running',
  'waiting_timer',
  'waiting_barrier',
  'queued',
  'success',
  'skipped',
];

const LETTERS: { [letter: string]: ShownState } = {
  q: 'queued',
  r: 'running',
  w: 'waiting_timer',
  t: 'retrying',
  g: 'waiting_barrier',
  s: 'success',
  k: 'skipped',
};

const FIRST_GROUP = 'A'.charCodeAt(0);
const LAST_GROUP = 'Z'.charCodeAt(0);

/** Failed items carry the letter of their group. */
export function groupOf(code: number): number | null {
  return code >= FIRST_GROUP && code <= LAST_GROUP ? code - FIRST_GROUP : null;
}

export function codeOfGroup(group: number): number {
  return FIRST_GROUP + group;
}

export function stateOf(code: number): ShownState {
  return groupOf(code) === null ? (LETTERS[String.fromCharCode(code)] ?? 'queued') : 'failed';
}

export function failureOf(code: number, groups: readonly FailureGroup[]): FailureGroup | null {
  const group = groupOf(code);
  return group === null ? null : (groups[group] ?? null);
}
