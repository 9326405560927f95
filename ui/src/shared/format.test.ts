import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatCountdown,
  formatDuration,
  formatElapsed,
  formatMoment,
  formatProgress,
  formatRelative,
  plural,
  shortId,
} from './format';

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

  it.each([
    [(2 * 24 + 3) * 3_600_000 + 59_000, 'in 2 d 3 h'],
    [7_500_000, 'in 2 h 5 min'],
    [200_000, 'in 3 min 20 s'],
    [12_000, 'in 12 s'],
    [1_000, 'in 1 s'],
    [999, 'now'],
    [-999, 'now'],
    [-5_400, 'overdue 5 s'],
    [-200_000, 'overdue 3 min'],
    [-7_500_000, 'overdue 2 h'],
    [-200_000_000, 'overdue 2 d'],
  ])('%d ms ahead is %s', (ahead, text) => expect(formatCountdown(1_000_000_000 + ahead, 1_000_000_000)).toBe(text));

  it.each([
    [0, '0'],
    [9_999, '9,999'],
    [10_000, '10.0k'],
    [12_399, '12.3k'],
    [999_999, '999k'],
    [1_250_000, '1.2M'],
  ])('%d in few letters is %s', (count, text) => expect(formatCompact(count)).toBe(text));

  it('show progress with separators', () => {
    expect(formatProgress({ arrived: 450, expected: 1_000 })).toBe('450 / 1,000');
  });

  it('count with separators and the right number', () => {
    expect(formatCount(12_345)).toBe('12,345');
    expect(plural(1, 'node')).toBe('1 node');
    expect(plural(0, 'node')).toBe('0 nodes');
  });

  it('shorten ids to their telling end', () => {
    expect(shortId('abc')).toBe('abc');
    expect(shortId('parcels-1')).toBe('parcels-1');
    expect(shortId('0192f3a4-7c1e-7b20-9f11-00015ce8a1d2')).toBe('5ce8a1d2');
  });

  it('survive a moment that does not exist', () => {
    expect(formatMoment(1e20)).toBe('unknown');
    expect(formatMoment(0)).toMatch(/^19(69|70)-\d\d-\d\d \d\d:\d\d:\d\d\.000$/);
  });
});
