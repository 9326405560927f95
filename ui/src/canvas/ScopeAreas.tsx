import { ViewportPortal } from '@xyflow/react';
import { type ReactElement, useMemo } from 'react';
import { titleOf } from '../shared/title';
import { nodeById, shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { areasOf } from './areas';
import type { Graph } from './graph';
import type { Layout } from './layout/layout';

/** Behind the nodes, on request. */
export function ScopeAreas({ graph, layout }: { graph: Graph; layout: Layout }): ReactElement | null {
  const shown = useStore((state) => state.preferences.scopesShown);
  const definition = useStore(shownDefinition);
  const areas = useMemo(() => (definition ? areasOf(definition, graph, layout) : []), [definition, graph, layout]);
  if (!shown) return null;
  return (
    <ViewportPortal>
      {areas.map(({ split, depth, x, y, width, height }) => {
        const node = nodeById(definition, split);
        return (
          <div key={`${split} ${y}`} className="area" data-testid={`area-${split}`} data-depth={depth} style={{ transform: `translate(${x}px, ${y}px)`, width, height }}>
            <span className="area-name">{node ? titleOf(node) : split}: once per item</span>
          </div>
        );
      })}
    </ViewportPortal>
  );
}
