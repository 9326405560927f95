import { describe, expect, it } from 'vitest';
import { FOLD_WIDTH, momentAfter, momentAt, scaleOf, xOf } from './timeScale';

const DAY = 86_400_000;
const ticks = (...moments: number[]) => moments.map((at, index) => ({ at, position: index + 1 }));

describe('scaleOf', () => {
  it('folds a day in which nothing happens, so that the seconds around it can be seen', () => {
    const scale = scaleOf(ticks(0, 500, 1_000, 1_000 + DAY, 2_000 + DAY), 0, 2_000 + DAY, 1_034);
    expect(scale.pieces.map(({ folded }) => folded)).toEqual([false, true, false]);
    expect(xOf(scale, 1_000)).toBe(500);
    expect(xOf(scale, 1_000 + DAY)).toBe(500 + FOLD_WIDTH);
    expect(xOf(scale, 2_000 + DAY)).toBe(1_034);
  });

  it('leaves an even line alone', () => {
    const scale = scaleOf(ticks(0, 100, 200, 300, 400), 0, 400, 800);
    expect(scale.pieces).toHaveLength(1);
    expect(xOf(scale, 100)).toBe(200);
    expect(momentAt(scale, 200)).toBe(100);
  });

  it('finds the way back from a place to its moment', () => {
    const scale = scaleOf(ticks(0, 1_000, 1_000 + DAY, 3_000 + DAY), 0, 3_000 + DAY, 900);
    for (const at of [0, 400, 1_000, 1_500 + DAY, 3_000 + DAY]) expect(Math.abs(momentAt(scale, xOf(scale, at)) - at)).toBeLessThan(2);
  });

  it('plays over what is folded', () => {
    const scale = scaleOf(ticks(0, 1_000, 1_000 + DAY, 2_000 + DAY), 0, 2_000 + DAY, 900);
    expect(momentAfter(scale, 100, 100)).toBe(200);
    expect(momentAfter(scale, 990, 100)).toBe(1_000 + DAY);
  });

  it('survives an execution of no length', () => {
    const scale = scaleOf(ticks(5), 5, 5, 300);
    expect(Number.isFinite(xOf(scale, 5))).toBe(true);
    expect(momentAt(scale, 100)).toBe(5);
  });
});
