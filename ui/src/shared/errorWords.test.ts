import { describe, expect, it } from 'vitest';
import { deadLetterSentence, errorWord, essenceOf } from './errorWords';

describe('errorWord', () => {
  it.each([
    ['CONNECTION_FAILED', 'No connection'],
    ['RETRIES_USED_UP', 'Retries used up'],
    ['OF_A_NEWER_HOST', 'OF_A_NEWER_HOST'],
    ['constructor', 'constructor'],
  ])('%s is %s', (code, word) => expect(errorWord(code)).toBe(word));
});

describe('deadLetterSentence', () => {
  it('counts the attempts of the house', () => {
    const error = { message: 'given up', code: 'RETRIES_USED_UP' as const, details: { attempts: 4 } };
    expect(deadLetterSentence(error, 7)).toBe('Given up by the house after 4 attempts; kept as a dead letter.');
  });

  it('falls back to the attempts of the firing', () => {
    const error = { message: 'lost', code: 'LINEAGE_MISMATCH' as const };
    expect(deadLetterSentence(error, 1)).toBe('Given up by the house after 1 attempt; kept as a dead letter.');
    expect(deadLetterSentence(error)).toBe('Given up by the house; kept as a dead letter.');
  });

  it('has nothing to say of a node that failed by itself', () => {
    expect(deadLetterSentence({ message: 'no', code: 'HTTP_TIMEOUT' }, 3)).toBeNull();
  });
});

describe('essenceOf', () => {
  it('leaves the expression away', () => {
    expect(essenceOf('parameter “output” {{ a.b }}: ReferenceError: a is not defined')).toBe('ReferenceError: a is not defined');
    expect(essenceOf('the billing system answers 503')).toBe('the billing system answers 503');
  });
});
