/** Moments of executions that somebody wants to find again, with a word about why. Kept on this machine. */
export interface Bookmark {
  position: number;
  at: number;
  note: string;
}

export type Bookmarks = { [executionId: string]: Bookmark[] };

const MOST_EXECUTIONS = 100;
const MOST_MARKS = 50;
const LONGEST_NOTE = 200;

/** Sets the mark at its position, or another note at the one that is there. The executions marked last are kept. */
export function withBookmark(bookmarks: Bookmarks, executionId: string, mark: Bookmark): Bookmarks {
  const others = (bookmarks[executionId] ?? []).filter((each) => each.position !== mark.position);
  const marks = [...others, { ...mark, note: mark.note.slice(0, LONGEST_NOTE) }].toSorted((a, b) => a.position - b.position).slice(-MOST_MARKS);
  const rest = Object.entries(bookmarks).filter(([id]) => id !== executionId);
  return Object.fromEntries([...rest, [executionId, marks] as const].slice(-MOST_EXECUTIONS));
}

export function withoutBookmark(bookmarks: Bookmarks, executionId: string, position: number): Bookmarks {
  const left = (bookmarks[executionId] ?? []).filter((each) => each.position !== position);
  const rest = Object.entries(bookmarks).filter(([id]) => id !== executionId);
  return Object.fromEntries(left.length === 0 ? rest : [...rest, [executionId, left] as const]);
}

/** What was stored may be anything. */
export function readBookmarks(stored: unknown): Bookmarks {
  if (typeof stored !== 'object' || stored === null) return {};
  const entries = Object.entries(stored).slice(-MOST_EXECUTIONS);
  return Object.fromEntries(entries.map(([id, marks]) => [id, readMarks(marks)] as const).filter(([, marks]) => marks.length > 0));
}

function readMarks(stored: unknown): Bookmark[] {
  if (!Array.isArray(stored)) return [];
  return stored.slice(-MOST_MARKS).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { position, at, note } = each as { [K in keyof Bookmark]?: unknown };
    const sound = Number.isSafeInteger(position) && Number.isFinite(at) && typeof note === 'string';
    return sound ? [{ position: position as number, at: at as number, note: note.slice(0, LONGEST_NOTE) }] : [];
  });
}
