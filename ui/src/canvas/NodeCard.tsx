/** One node of the graph. It listens to its own part of the store, so a change redraws one card and no more. */
import { Handle, type Node as FlowNode, type NodeProps, Position } from '@xyflow/react';
import { type ReactElement, memo, useEffect, useRef } from 'react';
import type { Diagnostic, Node } from '../generated/protocol';
import { totalOf } from '../shared/counts';
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
  const focused = useStore((state) => state.focusedNode === node.id);
  // One question for all of it, asked by every card at every change. Text, because text is equal when it says the same.
  const [chosen, way, found] = useStore((state) => standing(state, node.id)).split(' ');
  const selected = chosen === 'selected';
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
      className={`card card-${state}${view && totalOf(view.counts) > 1 ? ' card-many' : ''}${selected ? ' card-selected' : ''}${way === '' ? '' : ` card-way-${way}`}${found === '' ? '' : ` card-${found}`}`}
      data-testid={`node-${node.id}`}
      data-state={view?.state ?? 'idle'}
      data-node={node.id}
      data-way={way === '' ? undefined : way}
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

function standing(state: State, nodeId: string): string {
  return `${state.selectedNode === nodeId ? 'selected' : ''} ${wayOf(state, nodeId) ?? ''} ${foundHere(state, nodeId) ?? ''}`;
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
  if (state === null || state === 'skipped') return null;
  const index = useStore.getState().item?.index ?? 0;
  return (
    <span className={`card-item state-${state}`} title={`Item ${index}: ${STATE_WORDS[state].toLowerCase()}`}>
      <StateIcon state={state} /> <span className="numbers">#{index}</span>
    </span>
  );
}
