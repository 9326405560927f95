import { describe, expect, it } from 'vitest';
import type { BarrierPlace, NodeState, Whereabouts } from '../generated/protocol';
import { formatSeconds } from './format';
import { verdictOf } from './verdict';

const PART = { node_id: 'w', state: 'running' as const, retrying: false, attempt: 1, since: null, due: null };

function whereabouts(state: NodeState, count: number, more: Partial<Whereabouts> = {}): Whereabouts {
  return { node_id: 'w', state, retrying: false, count, due: null, ...more };
}

function place(arrived: number, expected: number, ...where: Whereabouts[]): BarrierPlace {
  return { key: '', arrived, expected, due: null, missing: [{ type: 'item', data: { index: 0, at: PART } }], whereabouts: where };
}

const words = { titleOf: (id: string) => (id === 'w' ? 'Rest' : id), ended: false };

describe('verdictOf', () => {
  it.each([
    ['nothing missing', place(3, 3), 'Everything has arrived.'],
    ['one rests', place(99, 100, whereabouts('waiting_timer', 1, { due: 1_000 })), `Waits for 1 of 100 items: 1 rests at “Rest” until ${formatSeconds(1_000)}.`],
    ['some run, some have not begun', place(0, 3, whereabouts('running', 2), whereabouts('queued', 1, { node_id: null })), 'Waits for 3 of 3 items: 2 run at “Rest”, 1 has not begun.'],
    ['one is tried again', place(1, 2, whereabouts('waiting_timer', 1, { retrying: true, due: 1_000 })), `Waits for 1 of 2 items: 1 failed at “Rest” and is tried again at ${formatSeconds(1_000)}.`],
    ['one is lost', place(1, 2, whereabouts('idle', 1, { node_id: null })), 'Waits for 1 of 2 items: 1 has nothing under way that could bring it.'],
  ])('%s', (_, given, sentence) => expect(verdictOf(given, words)).toBe(sentence));

  it('speaks of branches and of an end', () => {
    const merge: BarrierPlace = { ...place(1, 2, whereabouts('running', 1)), missing: [{ type: 'branch', data: { edge_id: 'e', parent: 'q', at: PART } }] };
    expect(verdictOf(merge, { ...words, ended: true })).toBe('The execution ended before the last 1 of 2 branches arrived: 1 runs at “Rest”.');
  });
});
