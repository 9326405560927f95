import { describe, expect, it } from 'vitest';
import { faultOf, parseJson } from './fault';

describe('faultOf', () => {
  it.each(['null', ' {"a": [1, -2.5e3, "x\\n\\u00e9", true, false, null], "b": {}} ', '[]', '"ü"', '0'])('takes %s', (text) => {
    expect(faultOf(text)).toBeNull();
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it.each([
    ['', 'nothing here', 1, 1],
    ['{"a": 1,}', 'comma too many', 1, 8],
    ['{"a" 1}', 'colon', 1, 6],
    ['{\n  "a": 1\n  "b": 2\n}', 'comma or }', 3, 3],
    ['{a: 1}', 'double quotes', 1, 2],
    ['[1, 2', '[ of line 1 is not closed', 1, 6],
    ['{"a": nul}', '“nul”', 1, 7],
    ['"abc', 'no closing quote', 1, 1],
    ['01', 'not a number', 1, 1],
    ['1 2', 'Nothing may follow', 1, 3],
    ['"\\x"', 'backslash', 1, 2],
    ['[,]', 'A value is needed', 1, 2],
    ['{"a":', 'missing at the end', 1, 6],
  ])('says of %s: %s', (text, words, line, column) => {
    const fault = faultOf(text);
    expect(fault?.message).toContain(words);
    expect([fault?.line, fault?.column]).toEqual([line, column]);
    // Whatever this refuses, JSON refuses too.
    expect(() => JSON.parse(text)).toThrow();
  });

  it('reads no deeper than the host', () => {
    expect(faultOf(`${'['.repeat(200)}${']'.repeat(200)}`)?.message).toContain('128');
  });
});

describe('parseJson', () => {
  it('gives the value', () => expect(parseJson('{"a": 1}')).toEqual({ type: 'value', value: { a: 1 } }));
  it('or the fault', () => expect(parseJson('{')).toMatchObject({ type: 'fault', fault: { line: 1 } }));
});
