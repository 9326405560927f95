/** The right side: everything about the selected node, or about the whole when none is selected. */
import type { ReactElement } from 'react';
import { nodeById, shownDefinition, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { ExecutionNode } from './ExecutionNode';
import { IdleNode } from './IdleNode';
import { Overview } from './Overview';
import './inspector.css';

export function Inspector(): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), state.selectedNode));
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  return (
    <aside className="inspector" aria-label="Inspector" data-testid="inspector">
      {node === null && <Overview />}
      {node !== null && executionId === null && <IdleNode key={node.id} node={node} />}
      {node !== null && executionId !== null && (
        <ExecutionNode key={`${executionId} ${node.id}`} node={node} executionId={executionId} />
      )}
    </aside>
  );
}
