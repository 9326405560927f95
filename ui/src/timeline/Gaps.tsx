/** Times in which something went by unseen or could not be kept: what the rows say of them may not be all. */
import { type ReactElement, useMemo } from 'react';
import type { Gap, Timeline } from '../generated/protocol';
import { asSentence } from '../shared/errorWords';
import { plural } from '../shared/format';
import { gapWords, unkeptWords } from '../shared/gapWords';
import { Icon } from '../shared/icons';
import { type Scale, xOf } from '../shared/timeScale';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';

interface ToldGap extends Gap {
  words: string;
}

/** A narrower one is not seen. */
const NARROWEST = 10;
/** In a narrower one its word would be cut; the line above the rows says it all the same. */
const ROOM_FOR_A_WORD = 40;

function useGaps(): ToldGap[] {
  const seen = useStore((state) => shownSummary(state)?.observed?.gaps);
  const unkept = useStore((state) => shownSummary(state)?.unkept);
  return useMemo(() => {
    const told = (seen ?? []).map((gap) => ({ ...gap, words: gapWords(gap) }));
    return unkept ? [...told, { ...unkept, words: unkeptWords(unkept) }] : told;
  }, [seen, unkept]);
}

/** What goes on after the last event has no moments that it could lie between: it stands behind the rows. */
const BEHIND = 52;

function isBehind({ from, until }: Gap, { latest_at }: Timeline): boolean {
  return until === null && from >= latest_at;
}

/** How much room that needs. */
export function useRoomBehind(timeline: Timeline): number {
  return useGaps().some((gap) => isBehind(gap, timeline)) ? BEHIND : 0;
}

/** The last one in words, and all of them on hover. */
export function GapLine(): ReactElement | null {
  const gaps = useGaps();
  const last = gaps.at(-1);
  if (!last) return null;
  return (
    <p className="timeline-gap-line numbers" title={gaps.map(({ words }) => words).join('\n')} data-testid="gap-line">
      <Icon name="warning" size={14} />
      {gaps.length === 1 ? 'Gap' : `${plural(gaps.length, 'gap')}, the last`} {last.words}.
    </p>
  );
}

/** Where they lie on the rows. */
export function Gaps({ left, scale, timeline }: { left: number; scale: Scale; timeline: Timeline }): ReactElement | null {
  const gaps = useGaps();
  if (gaps.length === 0) return null;
  return (
    <ul className="timeline-gaps" style={{ left, width: scale.width }} aria-label="Gaps" data-testid="timeline-gaps">
      {gaps.map((gap) => (
        <Place key={`${gap.from} ${gap.why}`} words={gap.words} at={placeOf(gap, scale, timeline)} />
      ))}
    </ul>
  );
}

function Place({ words, at }: { words: string; at: { left: number; width: number } }): ReactElement {
  return (
    <li className="timeline-gap" style={at}>
      {at.width >= ROOM_FOR_A_WORD && (
        <span className="timeline-gap-word" aria-hidden="true">
          gap
        </span>
      )}
      <span className="visually-hidden">{asSentence(words)}.</span>
    </li>
  );
}

function placeOf(gap: Gap, scale: Scale, timeline: Timeline): { left: number; width: number } {
  if (isBehind(gap, timeline)) return { left: scale.width + 6, width: BEHIND - 6 };
  const { from, until } = gap;
  const { started_at, latest_at } = timeline;
  const within = (moment: number): number => Math.min(Math.max(moment, started_at), latest_at);
  const start = Math.min(xOf(scale, within(from)), Math.max(scale.width - NARROWEST, 0));
  return { left: start, width: Math.max(xOf(scale, within(until ?? latest_at)) - start, NARROWEST) };
}
