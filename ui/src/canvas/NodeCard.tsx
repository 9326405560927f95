/** One node of the graph. It listens to its own part of the store, so a change redraws one card and no more. */
import { Handle, type Node as FlowNode, type NodeProps, Position } from '@xyflow/react';
import { type ReactElement, memo, useEffect, useRef } from 'react';
import type { Counts, Diagnostic, Node, NodeView } from '../generated/protocol';
import { formatCount, formatDuration, formatElapsed } from '../shared/format';
import { Icon, kindIcon } from '../shared/icons';
import { STATE_WORDS, StateLabel } from '../shared/states';
import { useNow } from '../shared/useNow';
import { nodeViewOf } from '../state/selectors';
import { focusNode, selectNode, useStore } from '../state/store';
import { NodeMarker } from './NodeMarker';

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
  const element = useRef<HTMLDivElement>(null);
  const state = view?.state ?? 'idle';

  useEffect(() => {
    // The keyboard moved here, maybe before this card was drawn: follow it, but never take it from another panel.
    if (focused && document.activeElement?.closest('.canvas')) element.current?.focus({ preventScroll: true });
  }, [focused]);

  return (
    <div
      ref={element}
      role="button"
      tabIndex={focused ? 0 : -1}
      className={`card card-${state}${selected ? ' card-selected' : ''}`}
      data-testid={`node-${node.id}`}
      data-state={state}
      data-node={node.id}
      aria-pressed={selected}
      aria-label={spoken(title, node.type, view)}
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
      <div className="card-middle">
        <span className="card-type">{node.type}</span>
        {view && <Firings view={view} />}
      </div>
      <div className="card-bottom">
        <StateLabel state={state} />
        <span className="card-numbers numbers">{view && <Duration view={view} />}</span>
      </div>
      {view && <CountsBar counts={view.counts} />}
      <NodeMarker diagnostics={diagnostics} />
    </div>
  );
}

/** Only what is out of the ordinary: one firing at the first attempt goes without saying. */
function Firings({ view }: { view: NodeView }): ReactElement {
  const firings = totalOf(view.counts);
  return (
    <span className="card-numbers numbers">
      {view.attempts > 1 && <span title={`${view.attempts} attempts`}>↻ {view.attempts}</span>}
      {firings > 1 && <span title={breakdown(view.counts)}>× {formatCount(firings)}</span>}
    </span>
  );
}

function Duration({ view }: { view: NodeView }): ReactElement | null {
  const replay = useStore((state) => state.host.mode === 'replay');
  if (view.state === 'success' || view.state === 'failed') return <span>{formatDuration(view.busy_ms)}</span>;
  // A replay happens at another time than what it shows, so there is nothing to count from.
  if (view.state !== 'running' || view.started_at === null || replay) return null;
  return <RunningFor since={view.started_at} />;
}

function RunningFor({ since }: { since: number }): ReactElement {
  const now = useNow();
  return <span>{formatElapsed(now - since)}</span>;
}

/** With many firings: which share of them is where. */
function CountsBar({ counts }: { counts: Counts }): ReactElement | null {
  if (totalOf(counts) < 2) return null;
  const parts = (['success', 'failed', 'skipped', 'running', 'queued'] as const).filter((state) => counts[state] > 0);
  return (
    <div className="card-bar" aria-hidden="true">
      {parts.map((state) => (
        <span key={state} className={`bar-${state}`} style={{ flexGrow: counts[state] }} />
      ))}
    </div>
  );
}

function totalOf(counts: Counts): number {
  return counts.queued + counts.running + counts.success + counts.failed + counts.skipped;
}

function breakdown(counts: Counts): string {
  return (['success', 'failed', 'skipped', 'running', 'queued'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${formatCount(counts[state])} ${STATE_WORDS[state].toLowerCase()}`)
    .join(', ');
}

function spoken(title: string, kind: string, view: NodeView | undefined): string {
  return `${title}, ${kind}, ${STATE_WORDS[view?.state ?? 'idle'].toLowerCase()}`;
}
