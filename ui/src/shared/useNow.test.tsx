import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Countdown } from './Countdown';
import { useNow } from './useNow';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

function Probe({ onDraw }: { onDraw: (now: number) => void }): null {
  onDraw(useNow());
  return null;
}

const pass = (millis: number) => act(() => void vi.advanceTimersByTime(millis));

describe('the clock', () => {
  it('is one timer for all who look, and none when nobody does', () => {
    expect(vi.getTimerCount()).toBe(0);
    const first = render(<Countdown due={1_012_000} />);
    const second = render(<Countdown due={1_090_000} />);
    expect(vi.getTimerCount()).toBe(1);
    first.unmount();
    expect(vi.getTimerCount()).toBe(1);
    second.unmount();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('beats once a second, for everybody at once', () => {
    render(<Countdown due={1_012_000} />);
    pass(500);
    render(<Countdown due={1_090_000} />);
    expect(screen.getByText('in 12 s')).toBeTruthy();
    expect(screen.getByText('in 1 min 30 s')).toBeTruthy();
    pass(500);
    expect(screen.getByText('in 11 s')).toBeTruthy();
    expect(screen.getByText('in 1 min 29 s')).toBeTruthy();
  });

  it('never shows the time at which it stopped', () => {
    render(<Countdown due={1_012_000} />).unmount();
    vi.setSystemTime(1_010_000);
    const drawn: number[] = [];
    render(<Probe onDraw={(now) => drawn.push(now)} />);
    expect(drawn).toEqual([1_010_000]);
  });

  it('tells the moment itself on hover', () => {
    render(<Countdown due={0} />);
    expect(screen.getByText(/overdue/).title).toMatch(/^19(69|70)-/);
    expect(screen.getByText(/overdue/).getAttribute('datetime')).toBe('1970-01-01T00:00:00.000Z');
  });

  it('survives a moment that does not exist', () => {
    render(<Countdown due={1e20} />);
    expect(screen.getByText(/^in/).hasAttribute('datetime')).toBe(false);
  });
});
