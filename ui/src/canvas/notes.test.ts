import { describe, expect, it } from 'vitest';
import { WORKFLOW } from '../testing/fixtures';
import { notesOf } from './notes';

describe('notesOf', () => {
  it('shows what is text, wherever the file keeps it', () => {
    const notes = ['plain', { id: 'n', label: 'Mind', content: 'the gap' }, { text: 'only this' }, 7, null, {}];
    expect(notesOf({ ...WORKFLOW, notes } as typeof WORKFLOW)).toEqual(['plain', 'Mind\nthe gap', 'only this']);
  });

  it('finds none where there are none', () => {
    expect(notesOf(WORKFLOW)).toEqual([]);
    expect(notesOf({ ...WORKFLOW, notes: 'no list' } as typeof WORKFLOW)).toEqual([]);
    expect(notesOf(null)).toEqual([]);
  });
});
