import { describe, expect, it } from 'vitest';
import { held } from '../testing/fixtures';
import { editOf, isEditable, startOf } from './edits';

describe('what may be changed', () => {
  it.each([
    ['before', 'parameters', true],
    ['before', 'context', true],
    ['before', 'output', false],
    ['after', 'parameters', false],
    ['after', 'output', true],
  ] as const)('%s the work: %s %s', (gate, part, expected) => expect(isEditable(held({ gate }), part)).toBe(expected));

  it('is no output where it failed', () => {
    expect(isEditable({ gate: 'after', error: { code: 'STALLED', message: 'x' } }, 'output')).toBe(false);
  });
});

describe('editOf', () => {
  const before = { $item: { n: 1 }, $trigger: [1, 2] };

  it('sends only what is different of a context', () => {
    expect(editOf('context', before, { ...before, $item: { n: 2 }, $new: true })).toEqual({ type: 'context', entries: { $item: { n: 2 }, $new: true } });
  });

  it.each([
    [[1], 'is an object'],
    [{ $item: { n: 1 } }, '“$trigger” cannot be taken away'],
    [{ ...before }, 'Nothing is different'],
  ])('refuses %j', (after, words) => expect(editOf('context', before, after)).toMatchObject({ message: expect.stringContaining(words) as string }));

  it('sends everything else as a whole', () => {
    expect(editOf('parameters', {}, { a: 1 })).toEqual({ type: 'parameters', value: { a: 1 } });
    expect(editOf('output', 1, null)).toEqual({ type: 'output', value: null });
  });

  it('begins with what is there, and with a pattern where that is too large', () => {
    expect(startOf({ type: 'whole', data: { json: [1], bytes: 3 } }, 'output')).toEqual([1]);
    expect(startOf({ type: 'cut', data: { text: '[', bytes: 9_000_000 } }, 'context')).toEqual({ $json: null });
  });
});
