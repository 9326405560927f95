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
const NARROWEST = 6;

function useGaps(): ToldGap[] {
  const seen = useStore((state) => shownSummary(state)?.observed?.gaps);
  const unkept = useStore((state) => shownSummary(state)?.unkept);
  return useMemo(() => {
    const told = (seen ?? []).map((gap) => ({ ...gap, words: gapWords(gap) }));
    return unkept ? [...told, { ...unkept, words: unkeptWords(unkept) }] : told;
  }, [seen, unkept]);
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
        <li key={`${gap.from} ${gap.why}`} className="timeline-gap" style={placeOf(gap, scale, timeline)}>
          <span className="timeline-gap-word" aria-hidden="true">
            gap
          </span>
          <span className="visually-hidden">{asSentence(gap.words)}.</span>
        </li>
      ))}
    </ul>
  );
}

function placeOf({ from, until }: Gap, scale: Scale, { started_at, latest_at }: Timeline): { left: number; width: number } {
  const within = (moment: number): number => Math.min(Math.max(moment, started_at), latest_at);
  const start = Math.min(xOf(scale, within(from)), Math.max(scale.width - NARROWEST, 0));
  return { left: start, width: Math.max(xOf(scale, within(until ?? latest_at)) - start, NARROWEST) };
}
