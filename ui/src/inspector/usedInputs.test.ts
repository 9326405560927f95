import { describe, expect, it } from 'vitest';
import type { Node, Workflow } from '../generated/protocol';
import { readFrom, usedInputs } from './usedInputs';

const node = (id: string, type: string, parameters: Node['parameters'] = {}): Node => ({ id, type, name: `The ${id}`, parameters });

const workflow = (last: Node, handle?: string): Workflow => ({
  nodes: [node('start', 'trigger'), node('fetch', 'http'), node('say-fresh', 'log'), node('each', 'split'), last],
  edges: [
    { id: 'a', src: 'start', dst: 'each' },
    { id: 'b', src: 'each', dst: last.id, ...(handle === undefined ? {} : { target_handle: handle }) },
  ],
});

const used = (parameters: Node['parameters'], handle?: string): [string, string | null][] => {
  const last = node('last', 'edit', parameters);
  return usedInputs(last, workflow(last, handle)).map(({ expression, from }) => [expression, from]);
};

describe('usedInputs', () => {
  it('finds references in texts and expressions, and the nodes they come from', () => {
    expect(used({ url: '$fetch.body.users[0]', deep: [{ text: '{{ $trigger.name + $item.kilos }}' }] })).toEqual([
      ['$fetch.body.users[0]', 'fetch'],
      ['$trigger.name', 'start'],
      ['$item.kilos', 'each'],
    ]);
  });

  it('takes no method for a part of the way, and no subtraction for a name', () => {
    expect(used({ a: '{{ $trigger.items.map((item) => item.price) }}', b: '{{ $fetch-1 }}', c: '$say-fresh.text' })).toEqual([
      ['$trigger.items', 'start'],
      ['$fetch', 'fetch'],
      ['$say-fresh.text', 'say-fresh'],
    ]);
  });

  it('lists each value once, with every place it is used in', () => {
    const last = node('last', 'edit', { a: '$trigger.name', b: { c: '$trigger.name' } });
    expect(usedInputs(last, workflow(last))[0]?.usedIn).toEqual(['a', 'b.c']);
  });

  it('knows named inputs, also those that no parameter names', () => {
    expect(used({}, 'order')).toEqual([['$inputs.order', 'each']]);
    expect(used({ a: '$inputs.order.id' }, 'order')).toEqual([['$inputs.order.id', 'each']]);
  });

  it('leaves open what it cannot tell', () => {
    expect(used({ a: '$nowhere.x costs $5' })).toEqual([['$nowhere.x', null]]);
  });
});

describe('readFrom', () => {
  const seen = (context: unknown, text: string, handle?: string): unknown => {
    const last = node('last', 'edit', { text });
    const [first] = usedInputs(last, workflow(last, handle));
    if (!first) throw new Error('nothing is read');
    const found = readFrom(context, first);
    return found.type === 'value' ? found.value : 'absent';
  };

  it('finds the value the node saw', () => {
    const context = { $trigger: { name: 'Ada' }, fetch: [1, 2] };
    expect(seen(context, '$trigger.name')).toBe('Ada');
    expect(seen(context, '$fetch.length')).toBe(2);
    expect(seen(context, '$node.fetch[1]')).toBe(2);
    expect(seen(context, '$fetch.toString')).toBe('absent');
    expect(seen(null, '$fetch')).toBe('absent');
  });

  it('finds what a named input brings', () => {
    expect(seen({ $item: { id: 7 } }, '$inputs.order.id', 'order')).toBe(7);
  });
});
