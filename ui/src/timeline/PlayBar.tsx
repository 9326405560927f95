import type { ReactElement } from 'react';
import type { Timeline } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { formatClock, formatCount, formatDuration } from '../shared/format';
import { canFork, prepareForkHere } from '../state/fork';
import { backToNow, stepEvent, travelTo } from '../state/past';
import { SPEEDS, setSpeed, togglePlaying } from '../state/playback';
import { nodeById, shownDefinition } from '../state/selectors';
import { setBookmark, useStore } from '../state/store';
import { titleOf } from '../shared/title';
import { nextMoment, nodeMoments } from './nodeMoments';

/** Steps and plays through what happened, marks moments, and leads back to now. */
export function PlayBar({ timeline }: { timeline: Timeline }): ReactElement {
  const past = useStore((state) => state.past);
  const playing = useStore((state) => state.playing);
  const speed = useStore((state) => state.speed);
  return (
    <div className="play-bar" role="toolbar" aria-label="Travel">
      <IconButton icon="previous" label="One event back (←)" data-testid="step-back" onClick={() => stepEvent(-1)} />
      <IconButton
        icon={playing ? 'pause' : 'play'}
        label={playing ? 'Pause (Space)' : 'Play from here (Space)'}
        data-testid="play"
        onClick={togglePlaying}
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
      <NodeSteps timeline={timeline} />
      <IconButton icon="bookmark" label="Bookmark this moment (M)" data-testid="bookmark" onClick={() => markMoment(timeline)} />
      <ForkHere />
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

/** From the event under the scrubber. */
function ForkHere(): ReactElement | null {
  const able = useStore(canFork);
  return able ? <IconButton icon="fork" label="Fork from this event, on this machine…" data-testid="fork-here" onClick={prepareForkHere} /> : null;
}

/** Only where a node is selected: from one thing that happened there to the next. */
function NodeSteps({ timeline }: { timeline: Timeline }): ReactElement | null {
  const node = useStore((state) => nodeById(shownDefinition(state), state.selectedNode));
  if (node === null || !timeline.rows.some((row) => row.node_id === node.id)) return null;
  const title = titleOf(node);
  return (
    <span className="play-node" role="group" aria-label={`Events of ${title}`}>
      <IconButton icon="nodeBack" label={`Earlier at ${title} (Shift+←)`} data-testid="node-back" onClick={() => stepAtNode(timeline, -1)} />
      <IconButton icon="nodeOn" label={`Later at ${title} (Shift+→)`} data-testid="node-on" onClick={() => stepAtNode(timeline, 1)} />
    </span>
  );
}

/** Goes to the next thing that happened at the selected node. */
export function stepAtNode(timeline: Timeline, by: 1 | -1): void {
  const { selectedNode, past } = useStore.getState();
  if (selectedNode === null) return;
  const at = nextMoment(nodeMoments(timeline, selectedNode), past?.at ?? timeline.latest_at, by);
  if (at !== null) travelTo({ type: 'moment', data: at });
}

/** From now on too: the page then shows the moment that was marked. */
export function markMoment(timeline: Timeline): void {
  const { past, preferences } = useStore.getState();
  const position = past?.view.position ?? timeline.position;
  const known = preferences.bookmarks[timeline.execution_id]?.some((mark) => mark.position === position);
  if (!known) setBookmark(timeline.execution_id, { position, at: past?.at ?? timeline.latest_at, note: '' });
}

function Legend(): ReactElement {
  return (
    <span className="play-legend">
      <i className="legend-queue" /> queue <i className="legend-run" /> run <i className="legend-wait" /> wait
    </span>
  );
}
