import { useStore as useFlowStore } from '@xyflow/react';
import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';

interface Props {
  onFit: () => void;
  onZoom: (factor: number) => void;
}

export function Controls({ onFit, onZoom }: Props): ReactElement {
  const zoom = useFlowStore((state) => Math.round(state.transform[2] * 100));
  return (
    <div className="canvas-controls" role="toolbar" aria-label="View">
      <IconButton icon="minus" label="Zoom out (-)" onClick={() => onZoom(0.8)} />
      <span className="canvas-zoom numbers">{zoom} %</span>
      <IconButton icon="plus" label="Zoom in (+)" onClick={() => onZoom(1.25)} />
      <IconButton icon="fit" label="Fit the graph (1)" onClick={onFit} />
    </div>
  );
}
