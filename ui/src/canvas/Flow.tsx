import {
  Background,
  BackgroundVariant,
  ReactFlow,
  useStore as useFlowStore,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type KeyboardEvent, type ReactElement, useCallback, useEffect, useMemo } from 'react';
import { type State, clearItem, focusNode, selectNode, setScopesShown, setSearch, useStore } from '../state/store';
import { showHighlight } from '../state/highlight';
import { useCalmStore } from '../state/calm';
import { shownDiagnostics, shownView } from '../state/selectors';
import { ScopeAreas } from './ScopeAreas';
import { Controls } from './Controls';
import { Map as Overview } from './Map';
import { NodeCard } from './NodeCard';
import { RouteEdge } from './RouteEdge';
import { distanceOf } from './distance';
import { flowEdges, flowNodes } from './elements';
import type { Graph } from './graph';
import type { Layout } from './layout/layout';
import { directionOf, neighbour } from './navigate';
import { atWork, useFollow } from './useFollow';
import { SMALLEST_ZOOM, type View, boundsOf, isTooLarge, useView } from './useView';

const NODE_TYPES = { card: NodeCard };
const EDGE_TYPES = { route: RouteEdge };
/** Up to this many nodes it is cheaper to draw all of them than to come and go. */
const DRAWN_WHOLE = 200;
/** Above this many nodes at work nothing turns and flows any more: so many small motions cost more than they tell. */
const MOST_TURNING = 24;
/** Small graphs are in sight as a whole and need no map. */
const MAP_FROM = 14;

/** A run is looked at afresh, even when its graph was in sight before. */
const occasionOf = ({ open, preferences }: State): string =>
  `${open.type === 'execution' ? open.executionId : open.type} ${preferences.presenter ? 'on a stage' : ''}`;

export function Flow({ graph, layout }: { graph: Graph; layout: Layout }): ReactElement {
  const diagnostics = useStore(shownDiagnostics);
  const nodes = useMemo(() => flowNodes(graph, layout, diagnostics), [graph, layout, diagnostics]);
  const edges = useMemo(() => flowEdges(graph, layout), [graph, layout]);
  const distance = useFlowStore(distanceOf);
  const busy = useCalmStore((state) => atWork(shownView(state)).length > MOST_TURNING);
  const bounds = useMemo(
    () => boundsOf(layout, new Map(graph.nodes.map(({ node, width }) => [node.id, width]))),
    [graph, layout],
  );
  const view = useView(graph, layout, useStore(occasionOf));
  const tooLarge = useFlowStore(({ width, height }) => isTooLarge(bounds, width, height));

  useTabStop(graph);
  useSelectionInSight(view.reveal);
  useFollow(view.follow);

  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      const from = useStore.getState().focusedNode;
      const target = event.target as HTMLElement;
      if (event.key === 'Escape') letGo();
      if (from === null || target.dataset.node === undefined) return;
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        selectNode(from);
        return;
      }
      const direction = directionOf(event.key);
      if (!direction || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = neighbour(graph, layout, from, direction);
      if (next === null) return;
      view.reveal(next);
      focusNode(next);
    },
    [graph, layout, view],
  );

  useCanvasKeys(view);

  return (
    <div className={`canvas-flow ${distance}${busy ? ' canvas-busy' : ''}`} onKeyDown={onKeyDown}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        minZoom={SMALLEST_ZOOM}
        maxZoom={2}
        onlyRenderVisibleElements={graph.nodes.length > DRAWN_WHOLE}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        zoomOnDoubleClick={false}
        panOnScroll={false}
        onPaneClick={() => selectNode(null)}
        onMove={(event) => {
          // Without an event it is not the user who moves.
          if (event) view.held();
        }}
        proOptions={{ hideAttribution: true }}
      >
        {/* From far away the dots are many thousands and no longer dots. */}
        {distance !== 'canvas-speck' && <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} color="var(--dots)" />}
        <ScopeAreas graph={graph} layout={layout} />
        {(tooLarge || graph.nodes.length >= MAP_FROM) && <Overview />}
      </ReactFlow>
      <Controls onFit={view.fit} onZoom={view.zoomBy} />
    </div>
  );
}

/** First what is looked for, then the item that is followed, then the node that is looked at. */
function letGo(): void {
  if (useStore.getState().search !== null) setSearch(null);
  else if (useStore.getState().item) clearItem();
  else if (useStore.getState().highlight) showHighlight(null);
  else selectNode(null);
}

/** The graph always has one node the tab key leads to. */
function useTabStop(graph: Graph): void {
  useEffect(() => {
    const { focusedNode } = useStore.getState();
    if (focusedNode !== null && graph.nodes.some(({ node }) => node.id === focusedNode)) return;
    focusNode(graph.nodes[0]?.node.id ?? null);
  }, [graph]);
}

/** A node that was selected elsewhere, such as in the list of problems, comes into sight. */
function useSelectionInSight(reveal: (nodeId: string) => void): void {
  const selected = useStore((state) => state.selectedNode);
  useEffect(() => {
    if (selected !== null) reveal(selected);
  }, [selected, reveal]);
}

function useCanvasKeys({ fit, zoomBy, zoomTo }: View): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.closest('input, textarea, select, dialog, [role="tree"]')) return;
      if (event.key === '1') fit();
      else if (event.key === '0') zoomTo(1);
      else if (event.key === '+' || event.key === '=') zoomBy(1.25);
      else if (event.key === '-') zoomBy(0.8);
      else if (event.key === 'g') setScopesShown(!useStore.getState().preferences.scopesShown);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [fit, zoomTo, zoomBy]);
}
