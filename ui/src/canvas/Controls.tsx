import { useStore as useFlowStore } from '@xyflow/react';
import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { splitsOf } from '../shared/scopes';
import { shownDefinition } from '../state/selectors';
import { setScopesShown, setSearch, useStore } from '../state/store';

interface Props {
  onFit: () => void;
  onZoom: (factor: number) => void;
}

export function Controls({ onFit, onZoom }: Props): ReactElement {
  const zoom = useFlowStore((state) => Math.round(state.transform[2] * 100));
  const fansOut = useStore((state) => splitsOf(shownDefinition(state)).length > 0);
  const areas = useStore((state) => state.preferences.scopesShown);
  return (
    <div className="canvas-controls" role="toolbar" aria-label="View">
      <IconButton icon="minus" label="Zoom out (-)" onClick={() => onZoom(0.8)} />
      <span className="canvas-zoom numbers">{zoom} %</span>
      <IconButton icon="plus" label="Zoom in (+)" onClick={() => onZoom(1.25)} />
      <IconButton icon="fit" label="Fit the graph (1)" onClick={onFit} />
      <IconButton icon="search" label="Find nodes (F)" data-testid="find-nodes" onClick={() => setSearch('')} />
      {fansOut && (
        <IconButton icon="area" label="Areas of fan-outs (G)" aria-pressed={areas} data-testid="areas" onClick={() => setScopesShown(!areas)} />
      )}
    </div>
  );
}
