import { describe, expect, it } from 'vitest';
import type { Waiting } from '../generated/protocol';
import { nodeView, view } from '../testing/fixtures';
import { waitingNow } from './waitingNow';

const item = (index: number) => ({ what: `item ${index}`, whereabouts: { state: 'queued' as const, behind: null } });
const TOLD: Waiting = { node_id: 'all', key: '', arrived: 2, expected: 6, missing: [item(2), item(3)], more: 2 };
const at = (arrived: number, expected = 6, state: 'waiting_barrier' | 'success' = 'waiting_barrier') =>
  view({ nodes: { all: nodeView(state, { progress: { arrived, expected } }) } });

describe('waitingNow', () => {
  it('names a join that the graph shows and the reasons do not know yet', () => {
    expect(waitingNow([], at(20, 120))).toEqual([{ node_id: 'all', key: '', arrived: 20, expected: 120, missing: [], more: 0 }]);
    expect(waitingNow([], at(120, 120))).toEqual([]);
  });

  it('counts as the graph does', () => {
    expect(waitingNow([TOLD], at(5))).toEqual([{ ...TOLD, arrived: 5, missing: [item(2)], more: 0 }]);
  });

  it('says nothing of a join that has opened since', () => {
    expect(waitingNow([TOLD], at(6, 6, 'success'))).toEqual([]);
  });

  it('leaves what waits at several keys as it was told', () => {
    const both = [{ ...TOLD, key: 'each=0' }, { ...TOLD, key: 'each=1' }];
    expect(waitingNow(both, at(9, 12))).toEqual(both);
    expect(waitingNow([TOLD], null)).toEqual([TOLD]);
  });
});
