/** One node of the graph. It listens to its own part of the store, so a change redraws one card and no more. */
import { Handle, type Node as FlowNode, type NodeProps, Position } from '@xyflow/react';
import { type ReactElement, memo, useEffect, useRef } from 'react';
import type { Diagnostic, Node } from '../generated/protocol';
import { Icon, kindIcon } from '../shared/icons';
import { shownState } from '../shared/shownState';
import { STATE_WORDS, StateIcon, StateLabel } from '../shared/states';
import { itemStateAt, nodeViewOf, shownDefinition, wayOf } from '../state/selectors';
import { type State, focusNode, selectNode, useStore } from '../state/store';
import { CardBar } from './CardBar';
import { CardMiddle, CardNumbers } from './CardNumbers';
import { NodeMarker } from './NodeMarker';
import { RetryReason } from './RetryReason';
import { foundNodes } from './search';
import { spokenNode } from './spoken';

export type CardData = {
  node: Node;
  title: string;
  diagnostics: Diagnostic[];
};
export type CardNode = FlowNode<CardData, 'card'>;

export const NodeCard = memo(function NodeCard({ data }: NodeProps<CardNode>): ReactElement {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Card {...data} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
});

/** The card without the canvas around it. */
export function Card({ node, title, diagnostics }: CardData): ReactElement {
  const view = useStore((state) => nodeViewOf(state, node.id));
  const selected = useStore((state) => state.selectedNode === node.id);
  const focused = useStore((state) => state.focusedNode === node.id);
  const way = useStore((state) => wayOf(state, node.id));
  const found = useStore((state) => foundHere(state, node.id));
  const element = useRef<HTMLDivElement>(null);
  const state = shownState(view);

  useEffect(() => {
    // The keyboard moved here, maybe before this card was drawn: follow it, but never take it from another panel.
    if (focused && document.activeElement?.closest('.canvas-flow')) element.current?.focus({ preventScroll: true });
  }, [focused]);

  return (
    <div
      ref={element}
      role="button"
      tabIndex={focused ? 0 : -1}
      className={`card card-${state}${selected ? ' card-selected' : ''}${way === null ? '' : ` card-way-${way}`}${found === null ? '' : ` card-${found}`}`}
      data-testid={`node-${node.id}`}
      data-state={view?.state ?? 'idle'}
      data-node={node.id}
      data-way={way ?? undefined}
      aria-pressed={selected}
      aria-label={spokenNode(title, node.type, view)}
      onFocus={() => focusNode(node.id)}
      onClick={() => selectNode(node.id)}
    >
      <div className="card-top">
        <span className="card-kind">
          <Icon name={kindIcon(node.type)} />
        </span>
        <span className="card-title" title={title}>
          {title}
        </span>
      </div>
      <CardMiddle kind={node.type} view={view} />
      <div className="card-bottom">
        <StateLabel state={state} />
        {view && <CardNumbers view={view} />}
      </div>
      {view && <CardBar view={view} />}
      {view && <RetryReason view={view} />}
      <NodeMarker diagnostics={diagnostics} />
      <ItemMark nodeId={node.id} />
    </div>
  );
}

/** Stands out, or steps back, while something is looked for; null when nothing is. */
function foundHere(state: State, nodeId: string): 'found' | 'unfound' | null {
  const found = foundNodes(shownDefinition(state), state.search);
  if (found.length === 0) return null;
  return found.includes(nodeId) ? 'found' : 'unfound';
}

/** What the selected item is doing here. */
function ItemMark({ nodeId }: { nodeId: string }): ReactElement | null {
  const state = useStore((current) => itemStateAt(current, nodeId));
  const index = useStore((current) => current.item?.index ?? null);
  if (state === null || index === null || state === 'skipped') return null;
  return (
    <span className={`card-item state-${state}`} title={`Item ${index}: ${STATE_WORDS[state].toLowerCase()}`}>
      <StateIcon state={state} /> <span className="numbers">#{index}</span>
    </span>
  );
}
