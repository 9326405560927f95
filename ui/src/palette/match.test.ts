import { describe, expect, it } from 'vitest';
import { bestOf, scoreOf } from './match';

describe('scoreOf', () => {
  it.each([
    ['inv', 'Invoice run', true],
    ['ir', 'Invoice run', true],
    ['run inv', 'Invoice run', false],
    ['xyz', 'Invoice run', false],
    ['', 'anything', true],
  ])('%s names %s: %s', (query, text, named) => expect(scoreOf(query, text) !== null).toBe(named));
});

describe('bestOf', () => {
  const entries = [{ text: 'Order review', extra: 'review.json' }, { text: 'Resilient sync' }, { text: 'Report', extra: 'log $report' }];

  it('puts what begins like that before what only holds the letters', () => {
    expect(bestOf('re', entries, 9).map(({ text }) => text)[0]).not.toBe('Order review');
    expect(bestOf('report', entries, 9)[0]?.text).toBe('Report');
  });

  it('looks into the small print, after the titles', () => {
    expect(bestOf('json', entries, 9).map(({ text }) => text)).toEqual(['Order review']);
  });

  it('keeps the order where nothing was typed, and no more than wanted', () => {
    expect(bestOf(' ', entries, 2).map(({ text }) => text)).toEqual(['Order review', 'Resilient sync']);
  });
});
