import { type ReactElement, useMemo } from 'react';
import type { Workflow } from '../generated/protocol';
import { SPOT, TURN, type Spot, sketchOf } from './sketch';

/** The shape of a workflow at a glance. */
export function Drawing({ definition }: { definition: Workflow }): ReactElement {
  const { spots, lines, gaps, width, height } = useMemo(() => sketchOf(definition), [definition]);
  return (
    <svg className="drawing" viewBox={`0 0 ${width} ${height}`} style={{ maxWidth: width * 1.15 }} aria-hidden="true">
      {lines.map(({ id, from, to }) => (
        <path key={id} className="drawing-line" d={from.band === to.band ? wayOf(from, to) : wayBelow(from, to, gaps[to.band] ?? 0)} />
      ))}
      {spots.map((spot) => (
        <g key={spot.id} className={`drawing-spot drawing-${spot.kind}`} transform={`translate(${spot.x} ${spot.y})`}>
          <rect width={SPOT.width} height={SPOT.height} rx={4} />
          {signOf(spot)}
        </g>
      ))}
    </svg>
  );
}

function wayOf(from: Spot, to: Spot): string {
  const [x1, y1, x2, y2] = [from.x + SPOT.width, from.y + SPOT.height / 2, to.x, to.y + SPOT.height / 2];
  const bend = Math.max((x2 - x1) / 2, 8);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Round the end of its line, and to the beginning of the next one. */
function wayBelow(from: Spot, to: Spot, gap: number): string {
  const [x1, y1, x2, y2] = [from.x + SPOT.width, from.y + SPOT.height / 2, to.x, to.y + SPOT.height / 2];
  return `M${x1} ${y1}h${TURN - 3}V${gap}H${x2 - TURN + 2}V${y2}H${x2}`;
}

/** A sign for each kind, so that they can be told apart without their colours. */
function signOf({ kind }: Spot): ReactElement {
  switch (kind) {
    case 'start':
      return <path d="M10.5 4v7l6-3.5z" />;
    case 'fan':
      return <path d="M7 7.5h4M11 7.5l5-4M11 7.5h5M11 7.5l5 4" />;
    case 'join':
      return <path d="M10 3.5l5 4M10 7.5h5M10 11.5l5-4M15 7.5h4" />;
    case 'wait':
      return <path d="M13 3.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM13 5.2v2.5h2" />;
    case 'choice':
      return <path d="M13 3.2l4.3 4.3-4.3 4.3-4.3-4.3z" />;
    case 'plain':
      return <path d="M8 7.5h10" />;
  }
}
