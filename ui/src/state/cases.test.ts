import { describe, expect, it } from 'vitest';
import { readCases, withCase, withoutCase } from './cases';

const taken = (executionId: string) => ({ name: `${executionId}.runeglass`, executionId });

describe('cases', () => {
  it('has the last one first, each once, and no more than a list holds', () => {
    const many = Array.from({ length: 20 }, (_, at) => taken(`x${at}`)).reduce(withCase, [] as ReturnType<typeof readCases>);
    expect(many).toHaveLength(12);
    expect(withCase(many, taken('x15'))[0]).toEqual(taken('x15'));
    expect(withCase(many, taken('x15'))).toHaveLength(12);
    expect(withoutCase(many, 'x19')[0]).toEqual(taken('x18'));
  });

  it.each([null, 'text', [{ name: 1 }], [null]])('takes %j for nothing', (stored) => expect(readCases(stored)).toEqual([]));
});
