import { describe, expect, it } from 'vitest';
import type { Controls } from '../generated/protocol';
import { conditionFrom, cycled, isAt, mockAt, portOf, withMock, withoutBreakpoint, withoutMock } from './breakpoints';
import { NO_CONTROLS } from './controlState';

const BEFORE = { type: 'before' as const, nodeId: 'a' };

describe('cycled', () => {
  it('is set, then disabled, then gone', () => {
    const once = cycled(NO_CONTROLS, BEFORE);
    expect(once.breakpoints).toEqual([{ place: { type: 'before', node_id: 'a' } }]);
    const twice = cycled(once, BEFORE);
    expect(twice.breakpoints[0]?.disabled).toBe(true);
    expect(cycled(twice, BEFORE).breakpoints).toEqual([]);
  });

  it('leaves what stands elsewhere', () => {
    const controls = cycled(cycled(NO_CONTROLS, { type: 'edge', edgeId: 'a' }), { type: 'after', nodeId: 'a' });
    const all = cycled(controls, BEFORE);
    expect(all.breakpoints).toHaveLength(3);
    expect(cycled(cycled(all, BEFORE), BEFORE).breakpoints).toEqual(controls.breakpoints);
  });

  it('keeps the condition of what it disables', () => {
    const controls: Controls = { mocks: [], breakpoints: [{ place: { type: 'before', node_id: 'a' }, condition: '$x' }] };
    expect(cycled(controls, BEFORE).breakpoints).toEqual([{ place: { type: 'before', node_id: 'a' }, condition: '$x', disabled: true }]);
  });
});

describe('portOf', () => {
  it.each([
    [{ type: 'barrier', node_id: 'a' }, 'before'],
    [{ type: 'error', node_id: 'a' }, 'after'],
  ] as const)('puts %j %s the node', (place, side) => expect(portOf(place)).toEqual({ type: side, nodeId: 'a' }));
  it('knows places that are nowhere in the graph', () => {
    expect(portOf({ type: 'error' })).toBeNull();
    expect(isAt({ place: { type: 'barrier' } }, BEFORE)).toBe(false);
  });
});

describe('mocks', () => {
  const pin = (value: number, key?: string) => ({ node_id: 'a', answer: { type: 'output' as const, value }, ...(key === undefined ? {} : { key }) });

  it('are one per node and key, and what is said for one key counts first', () => {
    const controls = withMock(withMock(withMock(NO_CONTROLS, pin(1)), pin(2, 'each=1')), pin(3));
    expect(controls.mocks).toHaveLength(2);
    expect(mockAt(controls, 'a', 'each=1')?.answer).toEqual({ type: 'output', value: 2 });
    expect(mockAt(controls, 'a', 'each=2')?.answer).toEqual({ type: 'output', value: 3 });
    expect(mockAt(withoutMock(controls, { node_id: 'a', key: null }), 'a', 'each=2')).toBeNull();
  });

  it('and breakpoints are taken away by their place in the list', () => {
    const controls = cycled(cycled(NO_CONTROLS, BEFORE), { type: 'edge', edgeId: 'e' });
    expect(withoutBreakpoint(controls, 0).breakpoints).toEqual([{ place: { type: 'edge', edge_id: 'e' } }]);
  });
});

describe('conditionFrom', () => {
  it.each([
    ['', {}],
    ['item == 7', { item: 7 }],
    [' item_index===7 && $item.total>100', { item: 7, condition: '$item.total>100' }],
    ['$item.n == 7', { condition: '$item.n == 7' }],
    ['item == 7 || true', { condition: 'item == 7 || true' }],
  ])('reads %s', (text, expected) => expect(conditionFrom(text)).toEqual(expected));
});
