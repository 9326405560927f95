/** Where a moment lies on the line. Long stretches in which nothing happens are folded, or a wait of days crushes the rest. */
import type { Tick } from '../generated/protocol';

/** The width of a folded stretch. */
export const FOLD_WIDTH = 34;
/** Shorter stretches are never folded. */
const SHORTEST_FOLD_MILLIS = 2_000;
/** A stretch is folded if it takes more than this share of the line. */
const SHARE = 0.3;
const MOST_FOLDS = 12;

export interface Piece {
  from: number;
  to: number;
  x: number;
  width: number;
  folded: boolean;
}

export interface Scale {
  pieces: Piece[];
  width: number;
}

export function scaleOf(ticks: readonly Tick[], from: number, to: number, width: number): Scale {
  const folds = foldsOf(ticks, from, to).toSorted((a, b) => a.from - b.from);
  const folded = folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const room = Math.max(width - folds.length * FOLD_WIDTH, 1);
  const perMilli = room / Math.max(to - from - folded, 1);
  const pieces: Piece[] = [];
  let [at, x] = [from, 0];
  const add = (until: number, isFolded: boolean): void => {
    const wide = isFolded ? FOLD_WIDTH : (until - at) * perMilli;
    pieces.push({ from: at, to: until, x, width: wide, folded: isFolded });
    at = until;
    x += wide;
  };
  for (const fold of folds) {
    if (fold.from > at) add(fold.from, false);
    add(fold.to, true);
  }
  add(Math.max(to, at), false);
  return { pieces, width };
}

/** The longest stretch is folded as long as it takes too much of what is left. */
function foldsOf(ticks: readonly Tick[], from: number, to: number): { from: number; to: number }[] {
  const moments = [from, ...ticks.map((tick) => tick.at).filter((at) => at > from && at < to), to];
  const gaps = moments.slice(1).map((end, index) => ({ from: moments[index] ?? end, to: end }));
  const longest = gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from));
  let left = to - from;
  const folds: { from: number; to: number }[] = [];
  for (const gap of longest.slice(0, MOST_FOLDS)) {
    const length = gap.to - gap.from;
    if (length < SHORTEST_FOLD_MILLIS || length < left * SHARE || gaps.length === 1) break;
    folds.push(gap);
    left -= length;
  }
  return folds;
}

export function xOf({ pieces, width }: Scale, at: number): number {
  const piece = pieces.find((each) => at <= each.to) ?? pieces.at(-1);
  if (!piece) return 0;
  const share = piece.to === piece.from ? 1 : (at - piece.from) / (piece.to - piece.from);
  return Math.min(Math.max(piece.x + Math.min(Math.max(share, 0), 1) * piece.width, 0), width);
}

export function momentAt({ pieces }: Scale, x: number): number {
  const piece = pieces.find((each) => x <= each.x + each.width) ?? pieces.at(-1);
  if (!piece) return 0;
  const share = piece.width === 0 ? 0 : (x - piece.x) / piece.width;
  return Math.round(piece.from + Math.min(Math.max(share, 0), 1) * (piece.to - piece.from));
}

/** The moment after a while of playing; a folded stretch is passed over. */
export function momentAfter({ pieces }: Scale, at: number, millis: number): number {
  const next = at + millis;
  const fold = pieces.find((piece) => piece.folded && next > piece.from && next < piece.to);
  return fold ? fold.to : next;
}
