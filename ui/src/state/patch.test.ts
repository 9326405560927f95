import { describe, expect, it } from 'vitest';
import { nodeView, patch, summary, view } from '../testing/fixtures';
import { applyPatch, applyPatches } from './patch';

describe('applyPatch', () => {
  it('replaces parts under their key and keeps the others', () => {
    const before = view({ nodes: { start: nodeView('success'), greet: nodeView('queued') } });
    const after = applyPatch(before, patch(2, { nodes: { greet: nodeView('running') }, edges: { a: { messages: 1, ignored: 0, late: 0, skipped: false } } }));
    expect(after.position).toBe(2);
    expect(after.nodes.start).toBe(before.nodes.start);
    expect(after.nodes.greet?.state).toBe('running');
    expect(after.edges.a?.messages).toBe(1);
    expect(before.nodes.greet?.state).toBe('queued');
  });

  it('takes the summary along', () => {
    const done = summary({ phase: 'completed', ended_at: 2_000 });
    expect(applyPatch(view(), patch(2, { summary: done })).summary).toEqual(done);
  });

  it.each([0, 1])('ignores position %i, which it has seen', (position) => {
    const before = view();
    expect(applyPatch(before, patch(position, { nodes: { start: nodeView('failed') } }))).toBe(before);
  });

  it('hears of what was not kept, which moves nothing on', () => {
    const lost = summary({ unkept: { from: 1_500, until: null, dropped: 12, why: 'the disk is full' } });
    const after = applyPatch(view(), patch(1, { summary: lost, nodes: { start: nodeView('failed') } }));
    expect(after).toEqual(view({ summary: lost }));
    expect(applyPatch(after, patch(1, { summary: lost }))).toBe(after);
  });

  it('ignores the patch of another execution', () => {
    const before = view();
    expect(applyPatch(before, patch(9, { execution_id: 'x2' }))).toBe(before);
  });

  it('keeps a node that is called __proto__ a plain key', () => {
    const nodes = JSON.parse('{"__proto__": null}') as { [key: string]: ReturnType<typeof nodeView> };
    Object.defineProperty(nodes, '__proto__', { value: nodeView('running'), enumerable: true });
    const after = applyPatch(view(), patch(2, { nodes }));
    expect(Object.getPrototypeOf(after.nodes)).toBe(Object.prototype);
    expect(Object.keys(after.nodes)).toEqual(['__proto__']);
  });
});

describe('applyPatches', () => {
  it('is the same as one patch after the other', () => {
    const patches = [
      patch(2, { nodes: { start: nodeView('running') } }),
      patch(3, { nodes: { start: nodeView('success'), greet: nodeView('queued') } }),
      patch(3, { nodes: { greet: nodeView('failed') } }),
      patch(4, { nodes: { greet: nodeView('running') }, summary: summary({ phase: 'failed' }) }),
    ];
    expect(applyPatches(view(), patches)).toEqual(patches.reduce(applyPatch, view()));
  });
});
