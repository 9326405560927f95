import { MiniMap, type MiniMapNodeProps } from '@xyflow/react';
import type { ReactElement } from 'react';
import { heldHere, nodeMarks } from '../state/controlMarks';
import { nodeStateOf } from '../state/selectors';
import { useCalmStore } from '../state/calm';

export function Map(): ReactElement {
  return <MiniMap pannable zoomable nodeComponent={Spot} ariaLabel="Map of the graph" className="canvas-map" />;
}

function Spot({ id, x, y, width, height }: MiniMapNodeProps): ReactElement {
  const state = useCalmStore((current) => (heldHere(nodeMarks(current, id)) > 0 ? 'held' : nodeStateOf(current, id)));
  return <rect className={`spot spot-${state}`} x={x} y={y} width={width} height={height} rx={8} />;
}
