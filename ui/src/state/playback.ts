/** Plays what happened, at any speed, whichever panels are open. */
import { useEffect } from 'react';
import { problemOf } from '../bridge/bridge';
import type { Timeline } from '../generated/protocol';
import { type Scale, momentAfter, scaleOf } from '../shared/timeScale';
import { timelineOf } from './actions';
import { backToNow, lookAt } from './past';
import { showProblem, useStore } from './store';

export const SPEEDS: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 10, 100];
const BEAT_MILLIS = 100;
/** Only the folds matter here, and they do not depend on the width. */
const ANY_WIDTH = 1_000;

export function togglePlaying(): void {
  useStore.setState((state) => ({ playing: !state.playing && state.open.type === 'execution' }));
}

export function setSpeed(speed: number): void {
  useStore.setState({ speed });
}

/** One speed faster or slower. */
export function shiftSpeed(by: number): void {
  const here = SPEEDS.indexOf(useStore.getState().speed);
  const next = SPEEDS[Math.min(Math.max(here + by, 0), SPEEDS.length - 1)];
  if (next !== undefined) setSpeed(next);
}

export function usePlayback(): void {
  const playing = useStore((state) => state.playing);
  const executionId = useStore((state) => (state.open.type === 'execution' ? state.open.executionId : null));
  useEffect(() => {
    if (!playing || executionId === null) return undefined;
    const player = new Player(executionId);
    return player.start();
  }, [playing, executionId]);
}

class Player {
  private readonly executionId: string;
  private timer: ReturnType<typeof setInterval> | null = null;
  private line: { timeline: Timeline; scale: Scale } | null = null;
  private at = 0;
  private asking = false;
  private stopped = false;

  constructor(executionId: string) {
    this.executionId = executionId;
  }

  /** The answer ends it. */
  start(): () => void {
    void this.read();
    this.timer = setInterval(() => this.beat(), BEAT_MILLIS);
    return () => {
      this.stopped = true;
      if (this.timer !== null) clearInterval(this.timer);
    };
  }

  /** The line grows while an execution runs, so it is read again when its end is reached. */
  private async read(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      const timeline = await timelineOf(this.executionId);
      if (this.stopped) return;
      if (this.line === null) this.begin(timeline);
      this.line = { timeline, scale: scaleOf(timeline.ticks, timeline.started_at, timeline.latest_at, ANY_WIDTH) };
    } catch (thrown) {
      if (this.stopped) return;
      useStore.setState({ playing: false });
      showProblem(problemOf(thrown));
    } finally {
      this.asking = false;
    }
  }

  private begin(timeline: Timeline): void {
    this.at = useStore.getState().past?.at ?? timeline.started_at;
    lookAt({ type: 'moment', data: this.at });
  }

  private beat(): void {
    if (!this.line) return;
    const { open, speed } = useStore.getState();
    const next = momentAfter(this.line.scale, this.at, BEAT_MILLIS * speed);
    if (next < this.line.timeline.latest_at) {
      this.at = next;
      lookAt({ type: 'moment', data: Math.round(next) });
    } else if (open.type === 'execution' && open.view?.summary.phase === 'running') void this.read();
    else if (open.type === 'execution' && open.view && open.view.position > this.line.timeline.position) void this.read();
    else backToNow();
  }
}
