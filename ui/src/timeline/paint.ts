/** Draws the bars of the rows in sight: queues low and grey, runs tall, waits hatched, with the failed part marked. */
import type { Bar, BarKind, TimelineRow } from '../generated/protocol';
import { type Scale, xOf } from '../shared/timeScale';

export const ROW = 22;

export interface Palette {
  queue: string;
  run: string;
  wait: string;
  failed: string;
  line: string;
  faint: string;
  ground: string;
}

const SHAPES: { [K in BarKind]: { top: number; height: number } } = {
  queue: { top: 9, height: 4 },
  run: { top: 4, height: 14 },
  wait: { top: 6, height: 10 },
  retry: { top: 6, height: 10 },
};

/** Bars are never thinner than this, or a short firing is not there. */
const THINNEST = 2;

export function paintRows(pen: CanvasRenderingContext2D, rows: readonly TimelineRow[], scale: Scale, end: number, top: number, palette: Palette): void {
  rows.forEach(({ bars }, at) => {
    const y = at * ROW - top;
    pen.fillStyle = palette.line;
    pen.fillRect(0, y + ROW - 1, scale.width, 1);
    for (const bar of bars) paintBar(pen, bar, scale, end, y, palette);
  });
}

function paintBar(pen: CanvasRenderingContext2D, bar: Bar, scale: Scale, end: number, y: number, palette: Palette): void {
  const x = xOf(scale, bar.from);
  const width = Math.max(xOf(scale, bar.to ?? end) - x, THINNEST);
  const { top, height } = SHAPES[bar.kind];
  const failed = bar.failed > 0;
  switch (bar.kind) {
    case 'queue':
      pen.fillStyle = palette.queue;
      pen.fillRect(x, y + top, width, height);
      return;
    case 'run':
      pen.fillStyle = failed ? palette.failed : palette.run;
      pen.fillRect(x, y + top, width, height);
      if (failed) notch(pen, x, y + top, width, height, palette.ground);
      return;
    case 'wait':
    case 'retry':
      hatch(pen, x, y + top, width, height, bar.kind === 'retry' ? palette.failed : palette.wait);
      return;
  }
}

/** A cut through the middle tells a failure without its colour. */
function notch(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string): void {
  if (width < 5) return;
  pen.fillStyle = colour;
  pen.fillRect(x + 1, y + height / 2 - 1, width - 2, 2);
}

function hatch(pen: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, Math.max(width - 1, 1), height - 1);
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  for (let at = x - height; at < x + width; at += 5) {
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
  }
  pen.stroke();
  pen.restore();
}

/** The folded stretches, as zig-zags over the whole height. */
export function paintFolds(pen: CanvasRenderingContext2D, scale: Scale, height: number, palette: Palette): void {
  for (const { x, width, folded } of scale.pieces) {
    if (!folded) continue;
    pen.fillStyle = palette.ground;
    pen.fillRect(x + width / 2 - 7, 0, 14, height);
    pen.strokeStyle = palette.faint;
    pen.lineWidth = 1;
    for (const side of [-5, 5]) {
      pen.beginPath();
      for (let y = 0; y <= height; y += 5) pen.lineTo(x + width / 2 + side + ((y / 5) % 2 === 0 ? -2 : 2), y);
      pen.stroke();
    }
  }
}
