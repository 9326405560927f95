/** Why things are as they are: sentences first, and the data behind them. */
import type { ReactElement } from 'react';
import { EmptyState } from '../shared/EmptyState';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { NodeStory } from './NodeStory';
import { useExplanation } from './useExplanation';
import { WholeStory } from './WholeStory';
import './explain.css';

interface Props {
  /** Null for the execution as a whole. */
  nodeId: string | null;
  /** Which of the node's firings, by its key; null for the one that tells most. */
  lineageKey: string | null;
}

export function Explain({ nodeId, lineageKey }: Props): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  // A recording from a file holds what was seen, not the events that the reasons are found in.
  const able = useStore((state) => state.host.mode !== 'replay');
  return executionId === null || !able ? null : <Explained executionId={executionId} nodeId={nodeId} lineageKey={lineageKey} />;
}

function Explained({ executionId, nodeId, lineageKey }: Props & { executionId: string }): ReactElement {
  const explained = useExplanation(executionId, nodeId, lineageKey);
  return (
    <section className={nodeId === null ? 'why why-whole' : 'why'} aria-label="Why" data-testid="why">
      {explained.type === 'loading' && <p className="why-note">Looking for reasons…</p>}
      {explained.type === 'unknown' && (
        <EmptyState icon="error" title={explained.problem.message}>
          {explained.problem.hint}
        </EmptyState>
      )}
      {explained.type === 'known' && (nodeId === null ? <WholeStory explanation={explained.explanation} /> : <NodeStory explanation={explained.explanation} />)}
    </section>
  );
}
