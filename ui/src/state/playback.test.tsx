import { act, render } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Request, Response } from '../generated/protocol';
import { summary, view } from '../testing/fixtures';
import { connect } from './actions';
import { setSpeed, shiftSpeed, togglePlaying, usePlayback } from './playback';
import { setPresenter, useStore } from './store';

const DAY = 86_400_000;
let moments: number[] = [];

function answer(request: Request): Response {
  if (request.type === 'timeline') {
    const ticks = [0, 500, 1_000, 1_000 + DAY, 1_400 + DAY].map((at, index) => ({ at, position: index + 1 }));
    return { type: 'timeline', data: { execution_id: 'x1', position: 5, started_at: 0, latest_at: 1_400 + DAY, rows: [], ticks } };
  }
  if (request.type !== 'view_at') throw new Error(request.type);
  moments.push(request.when.data);
  return { type: 'past', data: { view: view({ position: 2 }), at: request.when.data, last: 5 } };
}

function Player(): null {
  usePlayback();
  return null;
}

const pass = (millis: number) => act(() => vi.advanceTimersByTimeAsync(millis));

beforeEach(() => {
  vi.useFakeTimers();
  moments = [];
  connect({ host: { mode: 'web', title: '', readOnly: false }, call: async (request) => answer(request), subscribe: () => () => undefined });
  useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ position: 5, summary: summary({ phase: 'completed' }) }) } });
  render(<Player />);
});
afterEach(() => void vi.useRealTimers());

describe('playing', () => {
  it('goes from the beginning to now, and does not wait where nothing happened', async () => {
    act(togglePlaying);
    await pass(1_000);
    expect(moments[0]).toBe(0);
    await pass(1_500);
    expect(moments).toContain(1_000 + DAY);
    expect(useStore.getState()).toMatchObject({ playing: false, past: null });
  });

  it('takes four times as long on a stage', async () => {
    act(() => setPresenter(true));
    act(togglePlaying);
    await pass(1_000);
    expect(Math.max(...moments)).toBeLessThanOrEqual(250);
    act(() => setSpeed(100));
    act(() => shiftSpeed(1));
    expect(useStore.getState().speed).toBe(100);
  });
});
