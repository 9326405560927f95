/** What is sent for what was written: only what has changed of what a node sees, the whole of everything else. */
import type { Edit, HeldMessage, PayloadView, Problem } from '../generated/protocol';
import { isEqual } from '../shared/json/diff';

export type HeldPart = 'parameters' | 'context' | 'output';

/** Before its work a message can be changed in what it sees and is asked; after it, in what came of it. */
export function isEditable({ gate, error }: Pick<HeldMessage, 'gate' | 'error'>, part: HeldPart): boolean {
  return part === 'output' ? gate === 'after' && error === null : gate === 'before';
}

export function partOf(held: HeldMessage, part: HeldPart): PayloadView | null {
  return held[part];
}

/** A cut value cannot be edited as a whole; of a context, entries can be set anew. */
export function startOf(payload: PayloadView | null, part: HeldPart): unknown {
  if (payload?.type === 'whole') return payload.data.json;
  return part === 'context' ? { $json: null } : part === 'parameters' ? {} : null;
}

export function editOf(part: HeldPart, before: unknown, after: unknown): Edit | Problem {
  switch (part) {
    case 'parameters':
      return { type: 'parameters', value: after };
    case 'output':
      return { type: 'output', value: after };
    case 'context':
      return contextEdit(before, after);
  }
}

export function isProblem(answer: Edit | Problem): answer is Problem {
  return 'code' in answer;
}

function contextEdit(before: unknown, after: unknown): Edit | Problem {
  if (typeof after !== 'object' || after === null || Array.isArray(after)) {
    return refused('What a node sees is an object.', 'Write its entries by name, such as {"$item": …}.');
  }
  const known = (typeof before === 'object' && before !== null ? before : {}) as { [key: string]: unknown };
  const missing = Object.keys(known).find((key) => !Object.hasOwn(after, key));
  if (missing !== undefined) return refused(`“${missing}” cannot be taken away.`, 'Give it another value, such as null.');
  const entries = Object.entries(after).filter(([key, value]) => !Object.hasOwn(known, key) || !isEqual(known[key], value));
  if (entries.length === 0) return refused('Nothing is different.', 'Change a value, or cancel.');
  return { type: 'context', entries: Object.fromEntries(entries) as { [key: string]: unknown } };
}

function refused(message: string, hint: string): Problem {
  return { code: 'invalid_request', message, hint };
}
