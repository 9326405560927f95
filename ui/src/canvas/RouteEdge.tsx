import type { Edge as FlowEdge, EdgeProps } from '@xyflow/react';
import { type ReactElement, memo } from 'react';
import { formatCompact } from '../shared/format';
import { ignoredWords } from '../shared/ignored';
import { edgeViewOf, edgeWay, ignoredAlong, nodeStateOf } from '../state/selectors';
import { highlightedEdge } from '../state/highlight';
import { type State, useStore } from '../state/store';
import { EdgeBreak } from './EdgeBreak';
import { EdgePlate } from './EdgePlate';
import type { GraphEdge } from './graph';
import { type EdgeRoute, LABEL_HEIGHT, levelMiddle } from './layout/layout';
import { arrowPath, routePath } from './route';

// React Flow wants a type that may be indexed, so this is a mapped one and not an interface.
export type RouteData = { [K in keyof GraphEdge]: GraphEdge[K] } & { route: EdgeRoute };
export type RouteFlowEdge = FlowEdge<RouteData, 'route'>;

export type EdgeLook = 'plain' | 'taken' | 'ignored' | 'skipped' | 'active';

export function edgeLook(state: State, edgeId: string, target: string): EdgeLook {
  const view = edgeViewOf(state, edgeId);
  if (!view) return 'plain';
  // What travelled came to nothing: the join had what it needed.
  if (view.messages > 0 && view.ignored >= view.messages) return 'ignored';
  if (view.messages > 0) return nodeStateOf(state, target) === 'running' ? 'active' : 'taken';
  return view.skipped ? 'skipped' : 'plain';
}

/** Drawn where the layout put it; only its look follows the execution. */
export const RouteEdge = memo(function RouteEdge({ id, source, target, data }: EdgeProps<RouteFlowEdge>): ReactElement | null {
  // One question for all of it. Text, because text is equal when it says the same.
  const [look, way, ignored] = useStore((state) => standing(state, id, source, target)).split(' ');
  if (!data) return null;
  const { route, label, isError } = data;
  return (
    <g className={`route route-${look}${isError ? ' route-error' : ''}${way === '' ? '' : ` route-way-${way}`}`} data-edge={id} data-look={look} data-way={way === '' ? undefined : way}>
      <path className="route-line" d={routePath(route.points)} />
      <path className="route-head" d={arrowPath(route.points)} />
      {route.label && label !== '' && <EdgePlate at={route.label} text={label} title={data.edge.label ?? label} kind="label" />}
      {ignored === 'ignored' && <IgnoredNote id={id} route={route} labelled={label !== ''} />}
      <EdgeBreak id={id} route={route} title={label === '' ? `the edge from ${source} to ${target}` : `the edge “${label}”`} />
    </g>
  );
});

function standing(state: State, id: string, source: string, target: string): string {
  const way = edgeWay(state, id, source) ?? highlightedEdge(state, source, target) ?? '';
  return `${edgeLook(state, id, target)} ${way} ${(edgeViewOf(state, id)?.ignored ?? 0) > 0 ? 'ignored' : ''}`;
}

interface NoteProps {
  id: string;
  route: EdgeRoute;
  labelled: boolean;
}

/** How many came too late, and why on hover. Where the edge has a label, right below it. */
export function IgnoredNote({ id, route, labelled }: NoteProps): ReactElement | null {
  const edge = useStore((state) => edgeViewOf(state, id));
  const why = useStore((state) => ignoredAlong(state, id));
  const at = route.label ?? levelMiddle(route.points);
  if (why === null || !at || !edge) return null;
  const place = labelled ? { x: at.x, y: at.y + LABEL_HEIGHT + 2 } : at;
  return <EdgePlate at={place} text={`${formatCompact(edge.ignored)} ${ignoredWords(edge)}`} title={why} kind="note" />;
}
