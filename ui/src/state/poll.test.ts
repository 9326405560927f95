import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Poll } from './poll';
import { useStore } from './store';

const PAUSE_MILLIS = 1_000;
let world = { mark: 1, turn: 'running' };
let asked: number[] = [];
let stop = (): void => undefined;

/** Something has changed, and everybody who listens has heard of it. */
const change = async (more: Partial<typeof world>): Promise<void> => {
  world = { ...world, ...more };
  useStore.setState({});
  await vi.advanceTimersByTimeAsync(0);
};

beforeEach(async () => {
  vi.useFakeTimers();
  world = { mark: 1, turn: 'running' };
  asked = [];
  const poll = new Poll({
    ask: () => Promise.resolve(asked.push(world.mark)),
    mark: () => world.mark,
    show: () => undefined,
    fail: () => undefined,
    pauseMillis: PAUSE_MILLIS,
    turn: () => world.turn,
  });
  stop = poll.start();
  await vi.advanceTimersByTimeAsync(0);
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

describe('Poll', () => {
  it('rests after an answer, and then asks about the last change', async () => {
    await change({ mark: 2 });
    await change({ mark: 3 });
    expect(asked).toEqual([1]);
    await vi.advanceTimersByTimeAsync(PAUSE_MILLIS);
    expect(asked).toEqual([1, 3]);
  });

  it('asks again when one of several marks is another', async () => {
    stop();
    let marks: unknown[] = [1, 'a'];
    let times = 0;
    const poll = new Poll({ ask: () => Promise.resolve((times += 1)), mark: () => [...marks], show: () => undefined, fail: () => undefined, pauseMillis: PAUSE_MILLIS });
    stop = poll.start();
    await vi.advanceTimersByTimeAsync(0);
    await change({});
    await vi.advanceTimersByTimeAsync(PAUSE_MILLIS);
    expect(times).toBe(1);
    marks = [1, 'b'];
    await change({});
    expect(times).toBe(2);
  });

  it('does not rest at a turn', async () => {
    await change({ mark: 2, turn: 'completed' });
    expect(asked).toEqual([1, 2]);
    await change({ mark: 3 });
    expect(asked).toEqual([1, 2]);
  });

  it('asks no more when it was stopped', async () => {
    stop();
    await change({ mark: 2, turn: 'completed' });
    await vi.advanceTimersByTimeAsync(PAUSE_MILLIS);
    expect(asked).toEqual([1]);
  });
});
