/** The marked moments of an execution: chapters to go to, each with a note that can be written where it stands. */
import { type ReactElement, useEffect, useRef } from 'react';
import { IconButton } from '../shared/Button';
import { formatClock } from '../shared/format';
import { Icon } from '../shared/icons';
import type { Bookmark } from '../state/bookmarks';
import { travelTo } from '../state/past';
import { removeBookmark, setBookmark, useStore } from '../state/store';
import { useNotes } from './useNotes';

interface Props {
  executionId: string;
  marks: readonly Bookmark[];
  /** The event the page shows. */
  position: number;
}

export function Bookmarks({ executionId, marks, position }: Props): ReactElement | null {
  const { notes, keep } = useNotes(executionId);
  const able = useStore((state) => !state.host.readOnly);
  if (marks.length === 0 && notes.length === 0) return null;
  return (
    <ol className="bookmarks" aria-label="Bookmarks" data-testid="bookmarks">
      {marks.map((mark, index) => (
        <li key={mark.position} className={mark.position === position ? 'bookmark bookmark-here' : 'bookmark'}>
          {mark.position === position ? (
            <Note executionId={executionId} mark={mark} number={index + 1} onKeep={able ? () => keep(mark) : null} />
          ) : (
            <button type="button" className="bookmark-go" title={`${formatClock(mark.at)} · event ${mark.position}`} onClick={() => travelTo({ type: 'position', data: mark.position })}>
              <Icon name="bookmark" size={12} /> {mark.note === '' ? `Bookmark ${index + 1}` : mark.note}
            </button>
          )}
        </li>
      ))}
      {notes.map((note, index) => (
        <li key={`kept ${index}`} className={note.position === position ? 'bookmark bookmark-kept bookmark-here' : 'bookmark bookmark-kept'}>
          <button type="button" className="bookmark-go" title={`Kept with the recording · event ${note.position}`} data-testid="kept-note" onClick={() => travelTo({ type: 'position', data: note.position })}>
            <Icon name="save" size={12} /> {note.text === '' ? `Event ${note.position}` : note.text}
          </button>
        </li>
      ))}
    </ol>
  );
}

interface NoteProps {
  executionId: string;
  mark: Bookmark;
  number: number;
  /** Null where the recording cannot be written to. */
  onKeep: (() => void) | null;
}

function Note({ executionId, mark, number, onKeep }: NoteProps): ReactElement {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // One that was set this moment has no note yet: that is what one wants to write now.
    if (mark.note === '') field.current?.focus();
  }, []); // eslint-disable-line react-hooks/exhaustive-deps
  return (
    <>
      <Icon name="bookmark" size={12} />
      <input
        ref={field}
        value={mark.note}
        placeholder={`Bookmark ${number}: what is here?`}
        aria-label={`Note of bookmark ${number}`}
        size={Math.min(Math.max(mark.note.length, 22), 48)}
        data-testid="bookmark-note"
        onChange={(event) => setBookmark(executionId, { ...mark, note: event.target.value })}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter' || event.key === 'Escape') field.current?.closest('.timeline')?.querySelector<HTMLElement>('[role="slider"]')?.focus();
        }}
      />
      {onKeep && <IconButton icon="save" label="Keep it with the recording, for whoever gets it" data-testid="keep-note" onClick={onKeep} />}
      <IconButton icon="close" label="Remove this bookmark" onClick={() => removeBookmark(executionId, mark.position)} />
    </>
  );
}
