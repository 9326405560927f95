import type { Edge as FlowEdge, EdgeProps } from '@xyflow/react';
import { type ReactElement, memo } from 'react';
import { edgeViewOf, nodeStateOf } from '../state/selectors';
import { type State, useStore } from '../state/store';
import type { GraphEdge } from './graph';
import { type EdgeRoute, LABEL_HEIGHT, labelWidth } from './layout/layout';
import { arrowPath, routePath } from './route';

// React Flow wants a type that may be indexed, so this is a mapped one and not an interface.
export type RouteData = { [K in keyof GraphEdge]: GraphEdge[K] } & { route: EdgeRoute };
export type RouteFlowEdge = FlowEdge<RouteData, 'route'>;

export type EdgeLook = 'plain' | 'taken' | 'skipped' | 'active';

export function edgeLook(state: State, edgeId: string, target: string): EdgeLook {
  const view = edgeViewOf(state, edgeId);
  if (!view) return 'plain';
  if (view.messages > 0) return nodeStateOf(state, target) === 'running' ? 'active' : 'taken';
  return view.skipped ? 'skipped' : 'plain';
}

/** Drawn where the layout put it; only its look follows the execution. */
export const RouteEdge = memo(function RouteEdge({ id, target, data }: EdgeProps<RouteFlowEdge>): ReactElement | null {
  const look = useStore((state) => edgeLook(state, id, target));
  if (!data) return null;
  const { route, label, isError } = data;
  return (
    <g className={`route route-${look}${isError ? ' route-error' : ''}`} data-edge={id} data-look={look}>
      <path className="route-line" d={routePath(route.points)} />
      <path className="route-head" d={arrowPath(route.points)} />
      {route.label && label !== '' && (
        <g transform={`translate(${route.label.x} ${route.label.y})`}>
          <rect
            className="route-plate"
            x={-labelWidth(label) / 2}
            y={-LABEL_HEIGHT / 2}
            width={labelWidth(label)}
            height={LABEL_HEIGHT}
            rx={LABEL_HEIGHT / 2}
          />
          <text className="route-label" textAnchor="middle" dominantBaseline="central">
            {label}
          </text>
          <title>{data.edge.label ?? label}</title>
        </g>
      )}
    </g>
  );
});
