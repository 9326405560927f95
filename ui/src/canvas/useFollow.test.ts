import { describe, expect, it } from 'vitest';
import type { ExecutionView, NodeState } from '../generated/protocol';
import { atWork } from './useFollow';
import { followed, isTooLarge, within } from './useView';

function view(phase: ExecutionView['summary']['phase'], states: Record<string, NodeState>): ExecutionView {
  const nodes = Object.fromEntries(Object.entries(states).map(([id, state]) => [id, { state }]));
  return { summary: { phase }, nodes } as unknown as ExecutionView;
}

describe('following what is at work', () => {
  it('looks at what runs, rests or is about to run', () => {
    const states = { a: 'success', b: 'running', c: 'waiting_timer', d: 'queued', e: 'waiting_barrier', f: 'idle' } as const;
    expect(atWork(view('running', states))).toEqual(['b', 'c', 'd']);
  });

  it('lets a finished execution rest', () => {
    expect(atWork(view('completed', { a: 'running' }))).toEqual([]);
    expect(atWork(null)).toEqual([]);
  });

  it('puts a node into the middle, and the end of a wide box into sight', () => {
    expect(followed({ x: 1_000, y: 0, width: 100, height: 72 }, 1, 600, 400)).toEqual({ zoom: 1, x: -750, y: 164 });
    const wide = followed({ x: 0, y: 0, width: 5_000, height: 72 }, 1, 600, 400);
    expect(5_000 + wide.x).toBe(600 - 28);
  });

  it('shows no empty ground beside a graph that could fill the view', () => {
    const bounds = { x: 0, y: 0, width: 2_000, height: 100 };
    expect(within({ x: 300, y: 0, zoom: 1 }, bounds, 600, 400)).toEqual({ zoom: 1, x: 28, y: 150 });
    expect(within({ x: -1_900, y: 0, zoom: 1 }, bounds, 600, 400).x).toBe(600 - 28 - 2_000);
  });

  it('knows when a graph cannot be read as a whole', () => {
    expect(isTooLarge({ x: 0, y: 0, width: 3_000, height: 100 }, 1_000, 600)).toBe(true);
    expect(isTooLarge({ x: 0, y: 0, width: 1_000, height: 100 }, 1_000, 600)).toBe(false);
  });
});
