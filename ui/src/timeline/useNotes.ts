import { useCallback, useEffect, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { Note } from '../generated/protocol';
import { keepNote, notesOf } from '../state/actions';
import type { Bookmark } from '../state/bookmarks';
import { removeBookmark, showProblem } from '../state/store';

const NONE: readonly Note[] = [];

interface Notes {
  notes: readonly Note[];
  /** Moves a bookmark of this page into the recording. */
  keep: (mark: Bookmark) => void;
}

/** What was left at a recording, by whoever had it. */
export function useNotes(executionId: string): Notes {
  const [answer, setAnswer] = useState<{ id: string; notes: readonly Note[] } | null>(null);
  const load = useCallback(
    () =>
      notesOf(executionId).then(
        (notes) => setAnswer({ id: executionId, notes }),
        (thrown: unknown) => showProblem(problemOf(thrown)),
      ),
    [executionId],
  );
  useEffect(() => void load(), [load]);
  const keep = useCallback(
    (mark: Bookmark) => {
      keepNote(executionId, mark.position, mark.note)
        .then(() => {
          removeBookmark(executionId, mark.position);
          return load();
        })
        .catch((thrown: unknown) => showProblem(problemOf(thrown)));
    },
    [executionId, load],
  );
  return { notes: answer?.id === executionId ? answer.notes : NONE, keep };
}
