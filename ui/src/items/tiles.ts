/**
 * The look of a cell as pixels, so that a screen of thousands is one image: a colour and a pattern for every state, which
 * tell them apart without the colour too.
 */
import type { ShownState } from '../shared/shownState';

const COLOURS: { [K in ShownState]: string } = {
  idle: '--state-idle',
  queued: '--state-queued',
  running: '--state-running',
  waiting_timer: '--state-waiting',
  retrying: '--state-waiting',
  waiting_barrier: '--state-waiting',
  success: '--state-success',
  failed: '--state-failed',
  skipped: '--state-skipped',
};

export interface Tile {
  size: number;
  pixels: Uint32Array;
}

const cache = new Map<string, Tile>();

/** `size` is in pixels of the screen. */
export function tileOf(state: ShownState, size: number): Tile {
  const key = `${document.documentElement.dataset.theme} ${state} ${size}`;
  const known = cache.get(key);
  if (known) return known;
  const tile = { size, pixels: paint(state, size) };
  cache.set(key, tile);
  return tile;
}

export function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function paint(state: ShownState, size: number): Uint32Array {
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  const pen = canvas.getContext('2d');
  if (!pen) return new Uint32Array(size * size);
  drawCell(pen, state, size, colourOf(COLOURS[state]), colourOf('--surface'), colourOf('--state-failed'));
  return new Uint32Array(pen.getImageData(0, 0, size, size).data.buffer);
}

type Pen = Pick<CanvasRenderingContext2D, 'fillRect' | 'fillStyle' | 'clearRect'>;

/** Drawn pixel by pixel: at eight pixels a soft line is a smudge. */
export function drawCell(pen: Pen, state: ShownState, size: number, colour: string, ground: string, alarm: string): void {
  const gap = size >= 6 ? Math.max(1, Math.round(size / 10)) : 0;
  const side = size - gap;
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const ink = inkAt(state, x, y, side);
      if (ink === null) continue;
      pen.fillStyle = ink === 'colour' ? colour : ink === 'alarm' ? alarm : ground;
      pen.fillRect(x, y, 1, 1);
    }
  }
}

type Ink = 'colour' | 'ground' | 'alarm' | null;

/** The patterns. Small cells keep only what can still be seen. */
export function inkAt(state: ShownState, x: number, y: number, side: number): Ink {
  const rim = x === 0 || y === 0 || x === side - 1 || y === side - 1;
  const stroke = Math.max(1, Math.round(side / 8));
  switch (state) {
    case 'success':
      return 'colour';
    case 'failed':
      return side >= 5 && (near(x, y, stroke) || near(side - 1 - x, y, stroke)) ? 'ground' : 'colour';
    case 'running':
      return rim || x >= side / 2 ? 'colour' : null;
    case 'waiting_timer':
      return rim || (x + y) % (stroke * 4) < stroke * 2 ? 'colour' : null;
    case 'retrying':
      return rim ? 'alarm' : (x + side - y) % (stroke * 4) < stroke * 2 ? 'colour' : null;
    case 'waiting_barrier':
      return rim || y % (stroke * 3) < stroke ? 'colour' : null;
    case 'skipped':
      return near(side - 1 - x, y, stroke) || (rim && (x + y) % 3 === 0) ? 'colour' : null;
    case 'queued':
    case 'idle':
      return rim ? 'colour' : null;
  }
}

function near(x: number, y: number, stroke: number): boolean {
  return Math.abs(x - y) < stroke;
}
