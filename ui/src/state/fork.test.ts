import { describe, expect, it } from 'vitest';
import type { ForkPlace, PayloadView } from '../generated/protocol';
import { editOf, editable, wishOf } from './fork';

const whole = (json: unknown): PayloadView => ({ type: 'whole', data: { json, bytes: 1 } });

describe('editOf', () => {
  it('is nothing while the value is what it was', () => {
    expect(editOf({ type: 'output', data: whole({ n: 1 }) }, { n: 1 })).toBeNull();
    expect(editOf({ type: 'nothing' }, { n: 1 })).toBeNull();
  });

  it('gives the whole input or output', () => {
    expect(editOf({ type: 'input', data: whole({ n: 1 }) }, { n: 2 })).toEqual({ type: 'input', value: { n: 2 } });
    expect(editOf({ type: 'output', data: whole([1]) }, [2])).toEqual({ type: 'output', value: [2] });
  });

  it('gives only the entries of a context that were changed', () => {
    const place: ForkPlace = { type: 'context', data: whole({ $trigger: { n: 1 }, $item: 7 }) };
    expect(editOf(place, { $trigger: { n: 1 }, $item: 8 })).toEqual({ type: 'context', entries: { $item: 8 } });
  });

  it('puts an output in place of an error', () => {
    const place: ForkPlace = { type: 'failure', data: { code: 'NODE_FAILED', message: 'no' } as never };
    expect(editable(place)).toBeNull();
    expect(editOf(place, { ok: true })).toEqual({ type: 'output', value: { ok: true } });
  });

  it('leaves what is too large alone', () => {
    expect(editable({ type: 'output', data: { type: 'cut', data: { text: '[', bytes: 9_000_000 } } })).toBeUndefined();
  });
});

describe('wishOf', () => {
  it('asks for an event, a node, or what failed', () => {
    expect(wishOf({ executionId: 'x', from: 'event', position: 4 }, null, ['ask'])).toEqual({ type: 'at', position: 4, edit: null, run: ['ask'] });
    expect(wishOf({ executionId: 'x', from: 'node', nodeId: 'price' }, null, [])).toEqual({ type: 'from', node_id: 'price' });
    expect(wishOf({ executionId: 'x', from: 'failed', nodeId: 'price' }, null, [])).toEqual({ type: 'failed', node_id: 'price' });
    expect(wishOf({ executionId: 'x', from: 'item', key: 'each=7', nodeId: null }, null, [])).toEqual({ type: 'item', key: 'each=7', node_id: null });
  });
});
