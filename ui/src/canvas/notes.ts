/** Notes that the author left in the file. The file may hold anything there, so only what is text is shown. */
import type { Workflow } from '../generated/protocol';

const LONGEST = 2_000;
const MOST = 50;

export function notesOf(definition: Workflow | null): string[] {
  const { notes } = (definition ?? {}) as { notes?: unknown };
  if (!Array.isArray(notes)) return [];
  return notes.slice(0, MOST).flatMap((note: unknown) => {
    const text = textOf(note);
    return text === '' ? [] : [text.slice(0, LONGEST)];
  });
}

function textOf(note: unknown): string {
  if (typeof note === 'string') return note.trim();
  if (typeof note !== 'object' || note === null) return '';
  const fields = note as { [key: string]: unknown };
  const parts = ['label', 'title', 'content', 'text', 'note'].map((name) => fields[name]);
  const texts = parts.filter((part): part is string => typeof part === 'string' && part.trim() !== '');
  return [...new Set(texts.map((text) => text.trim()))].join('\n');
}
