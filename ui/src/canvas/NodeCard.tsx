/** One node of the graph. It listens to its own part of the store, so a change redraws one card and no more. */
import { Handle, type Node as FlowNode, type NodeProps, Position } from '@xyflow/react';
import { type ReactElement, memo, useEffect, useRef, useState } from 'react';
import type { Diagnostic, Node } from '../generated/protocol';
import { totalOf } from '../shared/counts';
import { Icon, kindIcon } from '../shared/icons';
import { shownState } from '../shared/shownState';
import { STATE_WORDS, StateIcon, StateLabel } from '../shared/states';
import { heldHere, nodeMarks } from '../state/controlMarks';
import { itemStateAt, nodeViewOf, shownDefinition, wayOf } from '../state/selectors';
import { type State, focusNode, selectNode, useStore } from '../state/store';
import { CardBar } from './CardBar';
import { CardMarks, HeldLabel, spokenMarks } from './CardMarks';
import { CardMiddle, CardNumbers } from './CardNumbers';
import { NodeMarker } from './NodeMarker';
import { Ports } from './Ports';
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
  const [offered, setOffered] = useState(false);
  return (
    <div className="card-place" onPointerEnter={() => setOffered(true)} onPointerLeave={() => setOffered(false)}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <Card {...data} />
      <Ports nodeId={data.node.id} title={data.title} offered={offered} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

/** The card without the canvas around it. */
export function Card({ node, title, diagnostics }: CardData): ReactElement {
  const view = useStore((state) => nodeViewOf(state, node.id));
  const focused = useStore((state) => state.focusedNode === node.id);
  // One question for all of it, asked by every card at every change. Text, because text is equal when it says the same.
  const [chosen, way, found] = useStore((state) => standing(state, node.id)).split(' ');
  const selected = chosen === 'selected';
  const marks = useStore((state) => nodeMarks(state, node.id));
  const held = heldHere(marks);
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
      className={`card card-${state}${view && totalOf(view.counts) > 1 ? ' card-many' : ''}${selected ? ' card-selected' : ''}${way === '' ? '' : ` card-way-${way}`}${found === '' ? '' : ` card-${found}`}${held > 0 ? ' card-held' : ''}${marks.stale ? ' card-stale' : ''}`}
      data-testid={`node-${node.id}`}
      data-state={view?.state ?? 'idle'}
      data-node={node.id}
      data-held={held > 0 ? held : undefined}
      data-way={way === '' ? undefined : way}
      aria-pressed={selected}
      aria-label={`${spokenNode(title, node.type, view)}${spokenMarks(marks)}`}
      onFocus={() => focusNode(node.id)}
      onClick={() => selectNode(node.id)}
    >
      <CardTop kind={node.type} title={title} />
      <CardMiddle kind={node.type} view={view} />
      <div className="card-bottom">
        {held > 0 ? <HeldLabel /> : <StateLabel state={state} />}
        {view && <CardNumbers view={view} />}
      </div>
      {view && <CardBar view={view} />}
      {view && <RetryReason view={view} />}
      <CardMarks marks={marks} />
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

/** Never changes while things happen, so it is not drawn again either. */
const CardTop = memo(function CardTop({ kind, title }: { kind: string; title: string }): ReactElement {
  return (
    <div className="card-top">
      <span className="card-kind">
        <Icon name={kindIcon(kind)} />
      </span>
      <span className="card-title" title={title}>
        {title}
      </span>
    </div>
  );
});

/** What the selected item is doing here. */
const ItemMark = memo(function ItemMark({ nodeId }: { nodeId: string }): ReactElement | null {
  const state = useStore((current) => itemStateAt(current, nodeId));
  if (state === null || state === 'skipped') return null;
  const index = useStore.getState().item?.index ?? 0;
  return (
    <span className={`card-item state-${state}`} title={`Item ${index}: ${STATE_WORDS[state].toLowerCase()}`}>
      <StateIcon state={state} /> <span className="numbers">#{index}</span>
    </span>
  );
});
