/** When what happened where, and the moment the page shows. */
import { type KeyboardEvent, type PointerEvent, type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import type { Problem, Timeline } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { formatCount, formatDuration, formatClock } from '../shared/format';
import { titleOf } from '../shared/title';
import { useThemeInForce } from '../shared/useThemeInForce';
import { timelineOf } from '../state/actions';
import { backToNow, stepEvent, travelTo } from '../state/past';
import { shiftSpeed, togglePlaying } from '../state/playback';
import { Poll } from '../state/poll';
import { nodeById, shownDefinition, shownSummary } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import type { Bookmark } from '../state/bookmarks';
import { Bookmarks } from './Bookmarks';
import { GapLine, Gaps, useRoomBehind } from './Gaps';
import { PlayBar, markMoment, stepAtNode } from './PlayBar';
import { ROW, paintFolds, paintRows } from './paint';
import { paletteInForce } from './palette';
import { type Scale, momentAt, scaleOf, xOf } from '../shared/timeScale';
import './timeline.css';

const PAUSE_MILLIS = 250;
/** Room for the names of nodes. */
const NAMES = 148;
const AXIS = 18;
/** Room behind the last moment, so that its mark can be taken hold of. */
const END = 10;
const NO_MARKS: readonly Bookmark[] = [];

export function TimelinePanel(): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  return executionId === null ? null : <Loaded key={executionId} executionId={executionId} />;
}

function Loaded({ executionId }: { executionId: string }): ReactElement | null {
  const [timeline, setTimeline] = useState<Timeline | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const poll = new Poll({
      ask: () => timelineOf(executionId),
      mark: () => {
        const { open } = useStore.getState();
        return open.type === 'execution' && open.executionId === executionId ? (open.view?.position ?? 0) : null;
      },
      show: setTimeline,
      fail: setProblem,
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [executionId]);
  if (problem && !timeline) return <EmptyState icon="error" title={problem.message}>{problem.hint}</EmptyState>;
  return timeline ? <Rows timeline={timeline} /> : null;
}

function Rows({ timeline }: { timeline: Timeline }): ReactElement {
  const lane = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const end = timeline.latest_at;
  const marks = useStore((state) => state.preferences.bookmarks[timeline.execution_id]) ?? NO_MARKS;
  const position = useStore((state) => state.past?.view.position) ?? timeline.position;
  const behind = END + useRoomBehind(timeline);
  const scale = useMemo(
    () => scaleOf(timeline.ticks, timeline.started_at, end, Math.max(width - NAMES - behind, 1)),
    [timeline, end, width, behind],
  );

  useEffect(() => {
    const element = lane.current;
    if (!element) return undefined;
    const look = (): void => setWidth(element.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);

  return (
    <section className="timeline" aria-label="Timeline" data-testid="timeline">
      <PlayBar timeline={timeline} />
      <Bookmarks executionId={timeline.execution_id} marks={marks} position={position} />
      <GapLine />
      <div className="timeline-scroll" ref={lane}>
        <Axis scale={scale} timeline={timeline} behind={behind} />
        <div className="timeline-rows" style={{ height: Math.max(timeline.rows.length * ROW, 1) }}>
          <Names timeline={timeline} />
          <Bars scale={scale} timeline={timeline} />
          <Gaps left={NAMES} scale={scale} timeline={timeline} />
        </div>
        <Scrubber scale={scale} timeline={timeline} marks={marks} />
      </div>
    </section>
  );
}

/** The moment the page shows, dragged with the pointer or moved event by event with the arrows. */
function Scrubber({ scale, timeline, marks }: { scale: Scale; timeline: Timeline; marks: readonly Bookmark[] }): ReactElement {
  const past = useStore((state) => state.past);
  const scrub = (event: PointerEvent<HTMLElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    travelTo({ type: 'moment', data: momentAt(scale, event.clientX - box.left) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = stepsOf(timeline, marks, event.shiftKey)[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    step();
  };
  const at = past?.at ?? timeline.latest_at;
  const position = past?.view.position ?? timeline.position;

  return (
    <div
      className="timeline-scrub"
      style={{ left: NAMES, height: timeline.rows.length * ROW + AXIS }}
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={1}
      aria-valuemax={timeline.position}
      aria-valuenow={position}
      aria-valuetext={`Event ${formatCount(position)} of ${formatCount(timeline.position)}, ${formatClock(at)}`}
      data-testid="scrubber"
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        scrub(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1) scrub(event);
      }}
    >
      {marks.map((mark) => (
        <span key={mark.position} className="timeline-mark" style={{ left: xOf(scale, mark.at) }} title={mark.note} />
      ))}
      <span className={past ? 'timeline-head timeline-head-past' : 'timeline-head'} style={{ left: xOf(scale, at) }} />
    </div>
  );
}

/** Shift makes a step one of the selected node. */
function stepsOf(timeline: Timeline, marks: readonly Bookmark[], shift: boolean): { [key: string]: () => void } {
  const here = useStore.getState().past?.view.position ?? timeline.position;
  const chapter = (mark: Bookmark | undefined): void => mark && travelTo({ type: 'position', data: mark.position });
  return {
    ArrowLeft: () => (shift ? stepAtNode(timeline, -1) : stepEvent(-1)),
    ArrowRight: () => (shift ? stepAtNode(timeline, 1) : stepEvent(1)),
    Home: () => travelTo({ type: 'position', data: 1 }),
    End: backToNow,
    PageUp: () => chapter(marks.findLast((mark) => mark.position < here)),
    PageDown: () => chapter(marks.find((mark) => mark.position > here)),
    ' ': togglePlaying,
    ArrowUp: () => shiftSpeed(1),
    ArrowDown: () => shiftSpeed(-1),
    m: () => markMoment(timeline),
  };
}

/** The beginning, the end, and how long each folded stretch is. */
function Axis({ scale, timeline, behind }: { scale: Scale; timeline: Timeline; behind: number }): ReactElement {
  return (
    <div className="timeline-axis numbers" style={{ marginLeft: NAMES, marginRight: behind }} aria-hidden="true">
      <span>{formatClock(timeline.started_at)}</span>
      {scale.pieces
        .filter((piece) => piece.folded)
        .map((piece) => (
          <span key={piece.from} className="timeline-fold" style={{ left: piece.x + piece.width / 2 }}>
            {formatDuration(piece.to - piece.from)}
          </span>
        ))}
      <span>+{formatDuration(Math.max(timeline.latest_at - timeline.started_at, 0))}</span>
    </div>
  );
}

function Names({ timeline }: { timeline: Timeline }): ReactElement {
  const definition = useStore(shownDefinition);
  const selected = useStore((state) => state.selectedNode);
  return (
    <ul className="timeline-names" style={{ width: NAMES }}>
      {timeline.rows.map(({ node_id }) => {
        const node = nodeById(definition, node_id);
        return (
          <li key={node_id}>
            <button type="button" className="timeline-name" aria-pressed={selected === node_id} style={{ height: ROW }} onClick={() => selectNode(node_id)}>
              {node ? titleOf(node) : node_id}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Bars({ scale, timeline }: { scale: Scale; timeline: Timeline }): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useThemeInForce();
  const height = timeline.rows.length * ROW;
  useEffect(() => {
    const element = canvas.current;
    const pen = element?.getContext('2d');
    if (!element || !pen) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(scale.width * ratio);
    element.height = Math.round(height * ratio);
    pen.scale(ratio, ratio);
    const palette = paletteInForce();
    paintRows(pen, timeline.rows, scale, timeline.latest_at, 0, palette);
    paintFolds(pen, scale, height, palette);
  }, [scale, timeline, height, theme]);
  return <canvas ref={canvas} className="timeline-bars" style={{ left: NAMES, width: scale.width, height }} />;
}
