/** The right side: everything about the selected node, or about the whole when none is selected. */
import type { ReactElement, ReactNode } from 'react';
import { nodeById, shownDefinition, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { ExecutionNode } from './ExecutionNode';
import { IdleNode } from './IdleNode';
import { Overview } from './Overview';
import './inspector.css';

/** What other features have to say about the selection; the shell knows them. */
export interface Beside {
  /** Why a node, or the whole where it is null, is as it is. */
  why?: (nodeId: string | null, lineageKey: string | null) => ReactNode;
  /** Where the execution comes from, and what comes from it. */
  family?: ReactNode;
}

export function Inspector({ why, family }: Beside): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), state.selectedNode));
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  return (
    <aside className="inspector" aria-label="Inspector" data-testid="inspector">
      {node === null && <Overview why={why?.(null, null)} family={family} />}
      {node !== null && executionId === null && <IdleNode key={node.id} node={node} />}
      {node !== null && executionId !== null && (
        <ExecutionNode key={`${executionId} ${node.id}`} node={node} executionId={executionId} why={why} />
      )}
    </aside>
  );
}
