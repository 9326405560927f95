/** Numbers and times in the words people read. */
import type { Progress } from '../generated/protocol';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function formatDuration(millis: number): string {
  if (millis < 1) return '<1 ms';
  if (millis < SECOND) return `${Math.round(millis)} ms`;
  if (millis < 10 * SECOND) return `${(millis / SECOND).toFixed(2)} s`;
  if (millis < MINUTE) return `${(millis / SECOND).toFixed(1)} s`;
  if (millis < HOUR) return `${Math.floor(millis / MINUTE)} min ${Math.floor((millis % MINUTE) / SECOND)} s`;
  if (millis < DAY) return `${Math.floor(millis / HOUR)} h ${Math.floor((millis % HOUR) / MINUTE)} min`;
  return `${Math.floor(millis / DAY)} d ${Math.floor((millis % DAY) / HOUR)} h`;
}

/** A time that still runs counts in whole seconds; nothing before the first one. */
export function formatElapsed(millis: number): string {
  const seconds = Math.floor(millis / SECOND);
  if (seconds < 1) return '';
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * SECOND);
}

export function formatRelative(at: number, now: number): string {
  const ago = Math.max(0, now - at);
  return ago < 5 * SECOND ? 'just now' : `${roughly(ago)} ago`;
}

/** To a moment ahead. What is late is late: there the exact time says no more than the rough one. */
export function formatCountdown(due: number, now: number): string {
  const left = due - now;
  if (left >= SECOND) return `in ${formatElapsed(left)}`;
  return left > -SECOND ? 'now' : `overdue ${roughly(-left)}`;
}

function roughly(millis: number): string {
  if (millis < MINUTE) return `${Math.floor(millis / SECOND)} s`;
  if (millis < HOUR) return `${Math.floor(millis / MINUTE)} min`;
  if (millis < DAY) return `${Math.floor(millis / HOUR)} h`;
  return `${Math.floor(millis / DAY)} d`;
}

/** Local time, in the order that sorts. */
export function formatMoment(at: number): string {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return 'unknown';
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
  return `${day} ${time}.${String(moment.getMilliseconds()).padStart(3, '0')}`;
}

/** For times that stand close together, where the day goes without saying. */
export function formatClock(at: number): string {
  return formatMoment(at).split(' ').at(-1) ?? '';
}

/** To the second, for moments that people wait for. */
export function formatSeconds(at: number): string {
  return formatClock(at).split('.')[0] ?? '';
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB'];
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** 12345 → 12,345 whatever the machine's language, like the rest of the page. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** For narrow places: 12345 → 12.3k. Rounded down, so that all but one never look like all of them. */
export function formatCompact(count: number): string {
  if (count < 10_000) return formatCount(count);
  const [unit, name] = count < 1_000_000 ? [1_000, 'k'] : [1_000_000, 'M'];
  const tenths = Math.floor((count * 10) / unit);
  return `${tenths < 1_000 ? (tenths / 10).toFixed(1) : Math.floor(tenths / 10)}${name}`;
}

export function formatProgress({ arrived, expected }: Progress): string {
  return `${formatCount(arrived)} / ${formatCount(expected)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** The end is what tells ids of the same moment apart when they start with a time; one that is short stays whole. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : id.slice(-8);
}
