import { describe, expect, it } from 'vitest';
import { formatBytes, formatCount, formatDuration, formatElapsed, formatMoment, formatRelative, plural, shortId } from './format';

describe('formatters', () => {
  it.each([
    [0, '<1 ms'],
    [0.4, '<1 ms'],
    [12, '12 ms'],
    [999.4, '999 ms'],
    [1_000, '1.00 s'],
    [12_340, '12.3 s'],
    [61_000, '1 min 1 s'],
    [3_660_000, '1 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('%d ms last %s', (millis, text) => expect(formatDuration(millis)).toBe(text));

  it.each([
    [500, ''],
    [1_900, '1 s'],
    [125_000, '2 min 5 s'],
  ])('%d ms have elapsed as %j', (millis, text) => expect(formatElapsed(millis)).toBe(text));

  it.each([
    [-50, 'just now'],
    [4_999, 'just now'],
    [30_000, '30 s ago'],
    [180_000, '3 min ago'],
    [7_200_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('%d ms ago is %s', (ago, text) => expect(formatRelative(1_000_000_000 - ago, 1_000_000_000)).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [123_456, '123 kB'],
    [999_999, '1.0 MB'],
    [48_211_733, '48.2 MB'],
  ])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('count with separators and the right number', () => {
    expect(formatCount(12_345)).toBe('12,345');
    expect(plural(1, 'node')).toBe('1 node');
    expect(plural(0, 'node')).toBe('0 nodes');
  });

  it('shorten ids to their telling end', () => {
    expect(shortId('abc')).toBe('abc');
    expect(shortId('0192f3a4-7c1e-7b20-9f11-00015ce8a1d2')).toBe('5ce8a1d2');
  });

  it('survive a moment that does not exist', () => {
    expect(formatMoment(1e20)).toBe('unknown');
    expect(formatMoment(0)).toMatch(/^19(69|70)-\d\d-\d\d \d\d:\d\d:\d\d\.000$/);
  });
});
