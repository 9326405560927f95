/** The place on an edge where a breakpoint may stand, offered where the pointer is. */
import { type ReactElement, useState } from 'react';
import { controlledPath, toggleBreakpoint } from '../state/control';
import { edgeMarks } from '../state/controlMarks';
import { useStore } from '../state/store';
import { type EdgeRoute, type Point, levelMiddle } from './layout/layout';
import { routePath } from './route';

const RADIUS = 6;

export function EdgeBreak({ id, route, title }: { id: string; route: EdgeRoute; title: string }): ReactElement | null {
  const [offered, setOffered] = useState(false);
  const able = useStore((state) => controlledPath(state) !== null);
  const { mark, held } = useStore((state) => edgeMarks(state, id));
  const at = placeOn(route);
  if (!able || !at) return null;
  const toggle = (): void => toggleBreakpoint({ type: 'edge', edgeId: id });
  const word = `${mark === null ? 'Set a breakpoint' : mark.state === 'set' ? 'Disable the breakpoint' : 'Remove the breakpoint'} on ${title}`;
  return (
    <g className="edge-break" data-break={mark?.state ?? 'none'} onPointerEnter={() => setOffered(true)} onPointerLeave={() => setOffered(false)} onClick={toggle}>
      <path className="edge-grip" d={routePath(route.points)} />
      {(offered || mark) && <Dot at={at} id={id} mark={mark} />}
      {held > 0 && (
        <g className="edge-held" transform={`translate(${at.x} ${at.y - 16})`}>
          <rect x={-16} y={-9} width={32} height={18} rx={9} />
          <text textAnchor="middle" dominantBaseline="central">
            ⏸ {held}
          </text>
        </g>
      )}
      <title>{word}</title>
    </g>
  );
}

function Dot({ at, id, mark }: { at: Point; id: string; mark: { state: string; look: string } | null }): ReactElement {
  const look = `edge-dot break-${mark?.state ?? 'none'}`;
  return mark?.look === 'log' ? (
    <path className={look} data-testid={`edge-port-${id}`} d={`M${at.x} ${at.y - 7}L${at.x + 7} ${at.y}L${at.x} ${at.y + 7}L${at.x - 7} ${at.y}z`} />
  ) : (
    <circle className={look} data-testid={`edge-port-${id}`} cx={at.x} cy={at.y} r={RADIUS} />
  );
}

/** Where the edge sets out, so that its words and its arrow stay free. */
function placeOn({ points }: EdgeRoute): Point | null {
  const [from, to] = points;
  if (!from || !to) return levelMiddle(points);
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length === 0) return levelMiddle(points);
  const share = Math.min(22, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
