import { type ReactElement, useEffect, useState } from 'react';
import type { Timeline } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { formatClock, formatCount, formatDuration } from '../shared/format';
import { backToNow, lookAt, stepEvent } from '../state/past';
import { useStore } from '../state/store';
import { type Scale, momentAfter } from './scale';

const SPEEDS: readonly number[] = [0.1, 0.25, 1, 4, 10, 100];
const BEAT_MILLIS = 100;

/** Steps and plays through what happened, and leads back to now. */
export function PlayBar({ scale, timeline }: { scale: Scale; timeline: Timeline }): ReactElement {
  const past = useStore((state) => state.past);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);

  useEffect(() => {
    if (!playing) return undefined;
    let at = useStore.getState().past?.at ?? timeline.started_at;
    lookAt({ type: 'moment', data: at });
    const timer = setInterval(() => {
      at = momentAfter(scale, at, BEAT_MILLIS * speed);
      if (at < timeline.latest_at) lookAt({ type: 'moment', data: Math.round(at) });
      else {
        setPlaying(false);
        backToNow();
      }
    }, BEAT_MILLIS);
    return () => clearInterval(timer);
    // The line grows while an execution runs; what is played goes on along the one it began with.
  }, [playing, speed]); // eslint-disable-line react-hooks/exhaustive-deps

  return (
    <div className="play-bar" role="toolbar" aria-label="Travel">
      <IconButton icon="previous" label="One event back (←)" data-testid="step-back" onClick={() => stepEvent(-1)} />
      <IconButton
        icon={playing ? 'pause' : 'play'}
        label={playing ? 'Pause' : 'Play from here'}
        data-testid="play"
        onClick={() => setPlaying(!playing)}
      />
      <IconButton icon="next" label="One event on (→)" data-testid="step-on" disabled={!past} onClick={() => stepEvent(1)} />
      <label className="play-speed">
        <span className="visually-hidden">Speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <span className="play-where numbers" data-testid="play-where">
        event {formatCount(past?.view.position ?? timeline.position)} of {formatCount(timeline.position)} · {formatClock(past?.at ?? timeline.latest_at)}
      </span>
      <Legend />
      {past && (
        <Button className="play-now" data-testid="back-to-now" onClick={backToNow}>
          {formatDuration(Math.max(timeline.latest_at - past.at, 0))} back · to now (End)
        </Button>
      )}
    </div>
  );
}

function Legend(): ReactElement {
  return (
    <span className="play-legend">
      <i className="legend-queue" /> queue <i className="legend-run" /> run <i className="legend-wait" /> wait
    </span>
  );
}
