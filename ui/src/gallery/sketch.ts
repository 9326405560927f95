/** A small drawing of a workflow: columns by distance from the start. It is a picture, not the layout. */
import type { Workflow } from '../generated/protocol';
import { closesLevel, opensLevel } from '../shared/kinds';

export type SpotKind = 'start' | 'fan' | 'join' | 'wait' | 'choice' | 'plain';

export interface Spot {
  id: string;
  kind: SpotKind;
  x: number;
  y: number;
  /** A long workflow goes on below, as a long line of text does. */
  band: number;
}

export interface Sketch {
  spots: Spot[];
  lines: { id: string; from: Spot; to: Spot }[];
  /** Above each band but the first, where lines find their way to its beginning. */
  gaps: number[];
  width: number;
  height: number;
}

export const SPOT = { width: 26, height: 15 };
const COLUMN = 41;
const ROW = 27;
const MARGIN = 5;
/** The room for a drawing, in its own units: one that fills it is made out best. */
const ROOM = { width: 290, height: 104 };
const MOST_BANDS = 3;
/** A line that has to be drawn smaller than this goes on below instead. */
const SMALLEST = 0.8;
const BAND_GAP = 16;
export const TURN = 8;
/** More than this is no small drawing any more. */
const MOST_NODES = 60;

export function sketchOf(definition: Workflow): Sketch {
  const nodes = definition.nodes.slice(0, MOST_NODES);
  const known = new Set(nodes.map(({ id }) => id));
  const edges = definition.edges.filter(({ src, dst }) => known.has(src) && known.has(dst) && src !== dst);
  const columns = columnsOf(nodes.map(({ id }) => id), edges);
  const bands = bandsOf(columns);
  const kinds = new Map(nodes.map((node) => [node.id, kindOf(node.type, node.trigger === true)]));
  const spots: Spot[] = [];
  const gaps: number[] = [];
  let top = MARGIN;
  bands.forEach((band, number) => {
    const tallest = Math.max(...band.map((column) => column.length), 1);
    if (number > 0) gaps[number] = top - BAND_GAP / 2;
    band.forEach((column, across) =>
      column.forEach((id, down) =>
        spots.push({ id, kind: kinds.get(id) ?? 'plain', x: MARGIN + across * COLUMN, y: top + (down + (tallest - column.length) / 2) * ROW, band: number }),
      ),
    );
    top += (tallest - 1) * ROW + SPOT.height + BAND_GAP;
  });
  const at = new Map(spots.map((spot) => [spot.id, spot]));
  const lines = edges.flatMap(({ id, src, dst }) => {
    const [from, to] = [at.get(src), at.get(dst)];
    return from && to ? [{ id, from, to }] : [];
  });
  const turn = turnOf(bands);
  for (const spot of spots) spot.x += turn;
  return { spots, lines, gaps, ...sizeOf(bands) };
}

/** In one line as long as that can be made out; else in as many as make the largest drawing. */
function bandsOf(columns: string[][]): string[][][] {
  const options = Array.from({ length: MOST_BANDS }, (_, more) => inBands(columns, more + 1));
  return options.reduce((best, each) => (scaleOf(best) < SMALLEST && scaleOf(each) > scaleOf(best) + 0.05 ? each : best));
}

function inBands(columns: string[][], count: number): string[][][] {
  const perBand = Math.max(Math.ceil(columns.length / count), 1);
  return Array.from({ length: Math.ceil(columns.length / perBand) || 1 }, (_, band) => columns.slice(band * perBand, (band + 1) * perBand));
}

function scaleOf(bands: string[][][]): number {
  const { width, height } = sizeOf(bands);
  return Math.min(ROOM.width / width, ROOM.height / height, 1.15);
}

function sizeOf(bands: string[][][]): { width: number; height: number } {
  const widest = Math.max(...bands.map((band) => band.length), 1);
  const heights = bands.map((band) => (Math.max(...band.map((column) => column.length), 1) - 1) * ROW + SPOT.height);
  return {
    width: (widest - 1) * COLUMN + SPOT.width + 2 * MARGIN + 2 * turnOf(bands),
    height: heights.reduce((sum, each) => sum + each, 0) + (bands.length - 1) * BAND_GAP + 2 * MARGIN,
  };
}

/** A line that goes on below turns round beside its last column and its first one. */
function turnOf(bands: string[][][]): number {
  return bands.length > 1 ? TURN : 0;
}

/** Each node one column after the last of those before it; within a column in the order of those before it. */
function columnsOf(ids: string[], edges: Workflow['edges']): string[][] {
  const depth = new Map(ids.map((id) => [id, 0]));
  // A wrong file may hold a cycle: as many rounds as there are nodes are enough for everything else.
  for (let round = 0; round < ids.length; round += 1) {
    let changed = false;
    for (const { src, dst } of edges) {
      const next = (depth.get(src) ?? 0) + 1;
      if (next > (depth.get(dst) ?? 0) && next < ids.length) {
        depth.set(dst, next);
        changed = true;
      }
    }
    if (!changed) break;
  }
  const columns: string[][] = [];
  for (const id of ids) (columns[depth.get(id) ?? 0] ??= []).push(id);
  const dense = columns.filter((column) => column !== undefined);
  return dense.reduce<string[][]>((done, column) => [...done, ordered(column, done.at(-1) ?? [], edges)], []);
}

function ordered(column: string[], before: string[], edges: Workflow['edges']): string[] {
  const weight = (id: string): number => {
    const places = edges.filter(({ src, dst }) => dst === id && before.includes(src)).map(({ src }) => before.indexOf(src));
    return places.length === 0 ? before.length : places.reduce((sum, each) => sum + each, 0) / places.length;
  };
  return column.toSorted((a, b) => weight(a) - weight(b));
}

function kindOf(type: string, trigger: boolean): SpotKind {
  if (type === 'trigger' || trigger) return 'start';
  if (type === 'wait') return 'wait';
  if (type === 'merge' || closesLevel(type)) return 'join';
  if (opensLevel(type)) return 'fan';
  return type === 'conditional' || type === 'switch' || type === 'if' || type === 'switch_value' ? 'choice' : 'plain';
}
