import { describe, expect, it } from 'vitest';
import type { PayloadView } from '../generated/protocol';
import { httpAnswerOf } from './httpAnswer';

const whole = (json: unknown): PayloadView => ({ type: 'whole', data: { json, bytes: 1 } });
const answer = { status: 200, status_text: '200 OK', body: { a: 1 }, headers: {}, duration_ms: 34 };

describe('httpAnswerOf', () => {
  it.each<[string, object, number | null]>([
    ['the server says', { headers: { 'Content-Length': '1200' } }, 1_200],
    ['of JSON', {}, 7],
    ['of text, in bytes', { body: 'über' }, 5],
    ['of other bytes', { body: { base64: 'AAAA', bytes: 3 } }, 3],
    ['unknown', { body: undefined }, null],
  ])('takes the size %s', (_, more, bodyBytes) => {
    expect(httpAnswerOf(whole({ ...answer, ...more }))).toEqual({ status: 200, statusText: '200 OK', durationMillis: 34, bodyBytes });
  });

  it('reads the status of an answer that was cut', () => {
    const cut: PayloadView = { type: 'cut', data: { text: '{"status":404,"status_text":"404 Not Found","body":"aaa', bytes: 9_000_000 } };
    expect(httpAnswerOf(cut)).toEqual({ status: 404, statusText: '404 Not Found', durationMillis: null, bodyBytes: null });
  });

  it.each([[null], ['text'], [[1]], [{ status: '200' }]])('makes nothing of %j', (json) => {
    expect(httpAnswerOf(whole(json))).toBeNull();
  });
});
