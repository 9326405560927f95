import { describe, expect, it } from 'vitest';
import { gapWords } from '../shared/gapWords';
import { cluster } from '../testing/fixtures';
import { begunAgainWords, deadLetterWords, growthWords, heardWords, workerWords } from './words';

const queue = (growth: number, messages = 5): Parameters<typeof growthWords>[0] => ({ name: 'q', messages, consumers: 1, growth });

describe('growthWords', () => {
  it.each([
    [queue(12.4), '+12 /s', 'growing'],
    [queue(0.25), '+0.3 /s', 'growing'],
    [queue(-3), '−3.0 /s', 'emptying'],
    [queue(0), '±0 /s', 'steady'],
    [queue(0, 0), '±0 /s', 'empty'],
  ])('says it with sign and word', (view, sign, word) => {
    expect(growthWords(view)).toEqual({ sign, word });
  });
});

describe('gapWords', () => {
  it('tells how long and how much', () => {
    expect(gapWords({ from: 0, until: 61_000, dropped: 2, why: 'too slow' })).toMatch(/^\d\d:\d\d:00 to \d\d:\d\d:01, 2 messages were not seen: too slow$/);
    expect(gapWords({ from: 0, until: 400, dropped: 0, why: 'too slow' })).toMatch(/^at \d\d:\d\d:00: too slow$/);
    expect(gapWords({ from: 0, until: null, dropped: 0, why: 'no connection' })).toMatch(/^since \d\d:\d\d:00: no connection$/);
  });
});

describe('deliveries', () => {
  it.each([
    [0, 'None seen'],
    [1, '1 start was begun again: its message, or one that led to it, was delivered twice'],
    [3, '3 starts were begun again: their messages, or some that led to them, were delivered twice'],
  ])('tell what was begun again', (redelivered, words) => expect(begunAgainWords({ redelivered })).toBe(words));

  it.each([
    [0, 'runeglass' as const, 'None put aside'],
    [1, 'runeglass' as const, '1 message put aside in the parking queue'],
    [2, 'runeglass' as const, '2 messages put aside in the parking queue'],
    [null, 'rune' as const, 'Rune keeps no dead letters: what a worker refuses is gone'],
    [null, null, null],
  ])('tell what was put aside', (dead_letters, dialect, words) => expect(deadLetterWords({ dead_letters, dialect })).toBe(words));
});

describe('heardWords', () => {
  it('says how much was not seen, where something was not', () => {
    expect(heardWords(cluster({ dialect: 'rune', heard: 1_234, dropped: 0 }))).toBe('1,234 messages heard');
    expect(heardWords(cluster({ dialect: 'rune', heard: 1_234, dropped: 7 }))).toBe('1,234 messages heard, 7 messages were not seen');
    expect(heardWords(cluster({ dialect: 'rune', heard: 1_234, dropped: 1 }))).toBe('1,234 messages heard, 1 message was not seen');
    expect(heardWords(cluster({ dialect: 'rune', heard: 5, dropped: 1, unread: 2 }))).toBe('5 messages heard, 1 message was not seen, 2 could not be read');
  });

  it('says when nothing can be heard', () => {
    expect(heardWords(cluster({ dialect: 'rune', heard: 5, queues_as_of: 1 }))).toBe('5 messages heard, none can be heard now');
    expect(heardWords(cluster({ dialect: 'runeglass', queues_as_of: 1 }))).toBe('their log is followed');
    expect(heardWords(cluster({ dialect: 'runeglass', redis_as_of: 1 }))).toBe('their log cannot be read now');
  });
});

describe('workerWords', () => {
  it('says what can be told of workers that have no name', () => {
    const work = (consumers: number) => cluster({ dialect: 'rune', queues: [{ name: 'workflow.execution', messages: 0, consumers, growth: 0 }] });
    expect(workerWords(work(2))).toBe('2 consumers take work from workflow.execution. Rune services do not say which worker does what.');
    expect(workerWords(work(1))).toContain('1 consumer takes work');
    expect(workerWords(work(0))).toBe('Nobody takes work from workflow.execution.');
    expect(workerWords(cluster({ dialect: 'rune' }))).toContain('was not seen yet');
    expect(workerWords(cluster({ dialect: 'runeglass' }))).toContain('appear here');
  });
});
