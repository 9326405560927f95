import type { ReactElement } from 'react';
import { plural } from '../shared/format';
import { shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { notesOf } from './notes';

/** What the author noted in the file, folded away until one wants to read it. */
export function FileNotes(): ReactElement | null {
  const definition = useStore(shownDefinition);
  const notes = notesOf(definition);
  if (notes.length === 0) return null;
  return (
    <details className="notes" data-testid="notes">
      <summary>{plural(notes.length, 'note')}</summary>
      <ul>
        {notes.map((note, at) => (
          <li key={at}>{note}</li>
        ))}
      </ul>
    </details>
  );
}
