/**
 * Recordings that the page has handed to the store. A page does not know where a file lies, so what is remembered is the
 * execution that was in it.
 */
export interface TakenCase {
  /** Of the file. */
  name: string;
  executionId: string;
}

/** More of them nobody looks through. */
const MOST = 12;

/** The same one again moves to the front. */
export function withCase(cases: readonly TakenCase[], taken: TakenCase): TakenCase[] {
  return [taken, ...withoutCase(cases, taken.executionId)].slice(0, MOST);
}

export function withoutCase(cases: readonly TakenCase[], executionId: string): TakenCase[] {
  return cases.filter((each) => each.executionId !== executionId);
}

export function readCases(stored: unknown): TakenCase[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isCase).slice(0, MOST);
}

function isCase(value: unknown): value is TakenCase {
  if (typeof value !== 'object' || value === null) return false;
  const { name, executionId } = value as { [K in keyof TakenCase]?: unknown };
  return typeof name === 'string' && typeof executionId === 'string';
}
