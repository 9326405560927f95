import { describe, expect, it } from 'vitest';
import { differenceOf, isEqual } from './diff';

const lines = (before: unknown, after: unknown): string[] =>
  differenceOf(before, after).rows.map(({ mark, name, text }) => `${mark} ${name === null ? '' : `${name}: `}${text}`);

describe('differenceOf', () => {
  it('folds what is equal and tells what is not', () => {
    expect(lines({ a: 1, b: 2, c: { d: 1 } }, { a: 1, b: 3, c: { d: 1 } })).toEqual(['inside { }', 'same 1 equal', 'removed b: 2', 'added b: 3', 'same 1 equal']);
  });

  it('tells what came and what went', () => {
    const found = differenceOf({ old: true }, { fresh: [1] });
    expect(found).toMatchObject({ added: 1, removed: 1, changed: 0 });
    expect(found.rows.map(({ mark, text }) => `${mark} ${text}`)).toEqual(['inside { }', 'removed true', 'added Array(1)', 'added 1']);
  });

  it('goes into lists by index', () => {
    expect(lines([{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 9 }])).toEqual(['inside [ ]', 'same 1 equal', 'inside 1: { }', 'removed id: 2', 'added id: 9']);
  });

  it('tells kinds apart, and is quiet about equals', () => {
    expect(differenceOf('1', 1)).toMatchObject({ changed: 1 });
    expect(differenceOf({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toMatchObject({ changed: 0, added: 0, removed: 0 });
  });

  it('has an end, however much is different', () => {
    const large = (by: number): number[] => Array.from({ length: 20_000 }, (_, index) => index + by);
    expect(differenceOf(large(0), large(1))).toMatchObject({ cut: true });
  });

  it('survives a value deeper than the stack', () => {
    const deep = (bottom: number): unknown => Array.from({ length: 5_000 }).reduce<unknown>((inner) => [inner], bottom);
    expect(isEqual(deep(1), deep(1))).toBe(false);
    expect(differenceOf(deep(1), deep(2)).changed).toBe(1);
  });
});
