/** The answer of an `http` node in a few numbers. */
import type { PayloadView } from '../generated/protocol';
import { own } from '../shared/record';

export interface HttpAnswer {
  status: number;
  /** `200 OK` */
  statusText: string;
  durationMillis: number | null;
  bodyBytes: number | null;
}

/** `null` where the output has another shape, such as that of a recording from elsewhere. */
export function httpAnswerOf(payload: PayloadView): HttpAnswer | null {
  return payload.type === 'whole' ? fromJson(payload.data.json) : fromStart(payload.data.text);
}

function fromJson(json: unknown): HttpAnswer | null {
  if (!isRecord(json)) return null;
  const status = own(json, 'status');
  const text = own(json, 'status_text');
  const duration = own(json, 'duration_ms');
  if (typeof status !== 'number') return null;
  return {
    status,
    statusText: typeof text === 'string' && text !== '' ? text : String(status),
    durationMillis: typeof duration === 'number' ? duration : null,
    bodyBytes: bodyBytes(json),
  };
}

/** The status stands first, so even a payload that was cut says it. */
function fromStart(text: string): HttpAnswer | null {
  const found = /^\{"status":(\d{3}),"status_text":"([^"\\]*)"/.exec(text);
  if (!found) return null;
  const [, status = '', statusText = ''] = found;
  return { status: Number(status), statusText, durationMillis: null, bodyBytes: null };
}

/** The server's word, else the size of what is there. */
function bodyBytes(answer: { [key: string]: unknown }): number | null {
  const headers = own(answer, 'headers');
  const length = isRecord(headers) ? own(headers, 'Content-Length') : undefined;
  if (typeof length === 'string' && /^\d+$/.test(length)) return Number(length);
  const body = own(answer, 'body');
  if (body === undefined) return null;
  if (isRecord(body) && typeof body.base64 === 'string' && typeof body.bytes === 'number') return body.bytes;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)).length;
}

function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
