/** One node of the graph. It listens to its own part of the store, so a change redraws one card and no more. */
import { Handle, type Node as FlowNode, type NodeProps, Position, useStore as useFlowStore } from '@xyflow/react';
import { type HTMLAttributes, type ReactElement, type RefObject, memo, useEffect, useRef, useState } from 'react';
import type { Diagnostic, Node, NodeState } from '../generated/protocol';
import { totalOf } from '../shared/counts';
import { HeldLabel } from '../shared/HeldLabel';
import { Icon, kindIcon } from '../shared/icons';
import { LOST_WORD, LostLabel } from '../shared/LostLabel';
import { type ShownState, shownState } from '../shared/shownState';
import { STATE_WORDS, StateIcon, StateLabel } from '../shared/states';
import { type NodeMarks, heldHere, nodeMarks } from '../state/controlMarks';
import { type Lost, lostAt } from '../state/lostWaits';
import { itemStateAt, nodeViewOf, shownDefinition, wayOf } from '../state/selectors';
import { type Verdict, verdictAt } from '../state/compare';
import { highlightOf } from '../state/highlight';
import { type State, focusNode, selectNode, useStore } from '../state/store';
import { VERDICT_WORDS, VerdictLabel } from '../shared/verdicts';
import { isSpeck } from './distance';
import { CardBar } from './CardBar';
import { CardMarks, spokenMarks } from './CardMarks';
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
  const speck = useFlowStore(isSpeck);
  return (
    <div className="card-place" onPointerEnter={() => setOffered(true)} onPointerLeave={() => setOffered(false)}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {speck ? <Speck {...data} /> : <Card {...data} />}
      <Ports nodeId={data.node.id} title={data.title} offered={offered} />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

/** The card without the canvas around it. */
export function Card({ node, title, diagnostics }: CardData): ReactElement {
  const view = useStore((state) => nodeViewOf(state, node.id));
  const state = shownState(view);
  const lost = useStore((current) => lostAt(current, node.id));
  const { frame, verdict, marks } = useFrame(node, state, view?.state ?? 'idle', `${view && totalOf(view.counts) > 1 ? ' card-many' : ''}${lookOf(lost)}`);
  return (
    <div
      {...frame}
      aria-label={verdict === null ? `${spokenNode(title, node.type, view, lost)}${spokenMarks(marks)}` : `${title}, ${node.type}, ${VERDICT_WORDS[verdict].toLowerCase()}`}
    >
      <CardTop kind={node.type} title={title} />
      <CardMiddle kind={node.type} view={view} />
      <div className="card-bottom">
        <CardWord state={state} verdict={verdict} held={heldHere(marks) > 0} lost={lost} />
        {view && verdict === null && <CardNumbers view={view} lost={lost} />}
      </div>
      {view && <CardBar view={view} />}
      {view && <RetryReason view={view} />}
      <CardMarks marks={marks} />
      <NodeMarker diagnostics={diagnostics} />
      <ItemMark nodeId={node.id} />
    </div>
  );
}

interface WordProps {
  state: ShownState;
  verdict: Verdict | null;
  held: boolean;
  lost: Lost;
}

/** One word for how it stands: beside another execution, held, or by itself. */
function CardWord({ state, verdict, held, lost }: WordProps): ReactElement {
  if (verdict !== null) return <VerdictLabel verdict={verdict} />;
  if (held) return <HeldLabel />;
  return lost === 'all' ? <LostLabel word={LOST_WORD} /> : <StateLabel state={state} />;
}

function lookOf(lost: Lost): string {
  return lost === 'all' ? ' card-lost' : '';
}

/**
 * The card where nothing on it could be read: a field with the sign of its state. It hears of its state and of nothing
 * else, so that a hundred changes in a frame change a hundred class names and no more.
 */
function Speck({ node, title }: CardData): ReactElement {
  const state = useStore((current) => shownState(nodeViewOf(current, node.id)));
  const lost = useStore((current) => lostAt(current, node.id));
  const { frame, verdict } = useFrame(node, state, state === 'retrying' ? 'waiting_timer' : state, lookOf(lost));
  const word = verdict === null ? wordOf(state, lost) : VERDICT_WORDS[verdict];
  return <div {...frame} title={`${title}: ${word.toLowerCase()}`} aria-label={`${title}, ${node.type}, ${word.toLowerCase()}`} />;
}

function wordOf(state: ShownState, lost: Lost): string {
  if (lost === 'all') return LOST_WORD;
  return lost === '' ? STATE_WORDS[state] : `${STATE_WORDS[state]}, ${lost} lost`;
}

type Frame = HTMLAttributes<HTMLDivElement> & { ref: RefObject<HTMLDivElement | null> };

/** What a card is to the eye and the hand, whatever stands on it. */
function useFrame(node: Node, state: ShownState, plain: NodeState, extra: string): { frame: Frame; verdict: Verdict | null; marks: NodeMarks } {
  // One question for all of it, asked by every card at every change. Text, because text is equal when it says the same.
  const [chosen, way = '', found = '', compared = '', focus] = useStore((current) => standing(current, node.id)).split(' ');
  const marks = useStore((current) => nodeMarks(current, node.id));
  const held = heldHere(marks);
  const element = useRef<HTMLDivElement>(null);
  const focused = focus === 'focused';
  const verdict = compared === '' ? null : (compared as Verdict);
  useEffect(() => {
    // The keyboard moved here, maybe before this card was drawn: follow it, but never take it from another panel.
    if (focused && document.activeElement?.closest('.canvas-flow')) element.current?.focus({ preventScroll: true });
  }, [focused]);
  const selected = chosen === 'selected';
  const look = verdict === null ? `card-${state}` : `card-verdict-${verdict}`;
  const data = { 'data-testid': `node-${node.id}`, 'data-state': plain, 'data-node': node.id, 'data-held': held > 0 ? held : undefined, 'data-way': way === '' ? undefined : way, 'data-verdict': verdict ?? undefined };
  const frame: Frame = {
    ref: element,
    role: 'button',
    tabIndex: focused ? 0 : -1,
    className: `card ${look}${extra}${selected ? ' card-selected' : ''}${way === '' ? '' : ` card-way-${way}`}${found === '' ? '' : ` card-${found}`}${held > 0 ? ' card-held' : ''}${marks.stale !== null ? ' card-stale' : ''}`,
    'aria-pressed': selected,
    onFocus: () => focusNode(node.id),
    onClick: () => selectNode(node.id),
    ...data,
  };
  return { frame, verdict, marks };
}

function standing(state: State, nodeId: string): string {
  return `${state.selectedNode === nodeId ? 'selected' : ''} ${wayOf(state, nodeId) ?? highlightOf(state, nodeId) ?? ''} ${foundHere(state, nodeId) ?? ''} ${verdictAt(state, nodeId) ?? ''} ${state.focusedNode === nodeId ? 'focused' : ''}`;
}

/** Stands out, or steps back, while something is looked for; null when nothing is. */
function foundHere(state: State, nodeId: string): 'found' | 'unfound' | null {
  if (state.search === null) return null;
  const found = foundNodes(shownDefinition(state), state.search);
  if (found.length === 0) return null;
  return found.includes(nodeId) ? 'found' : 'unfound';
}

/** From here on the large type of a far look would cut it, where it has one line only. */
const LONG_TITLE = 15;

/** Never changes while things happen, so it is not drawn again either. */
const CardTop = memo(function CardTop({ kind, title }: { kind: string; title: string }): ReactElement {
  return (
    <div className="card-top">
      <span className="card-kind">
        <Icon name={kindIcon(kind)} />
      </span>
      <span className={title.length > LONG_TITLE ? 'card-title card-title-long' : 'card-title'} title={title}>
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
