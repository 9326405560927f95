/** The graph for those who hear it: every node with its state, and the course of the execution in a sentence. */
import { type ReactElement, useEffect, useState } from 'react';
import type { ExecutionView, Workflow } from '../generated/protocol';
import { PHASE_WORDS, type ShownPhase } from '../shared/phase';
import { own } from '../shared/record';
import { titleOf } from '../shared/title';
import { nodeMarks } from '../state/controlMarks';
import { lostAt } from '../state/lostWaits';
import { phaseOf, shownView, stateCounts } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { spokenMarks } from './CardMarks';
import { spokenNode } from './spoken';

const BEAT_MILLIS = 1_000;

export function NodeList({ definition }: { definition: Workflow }): ReactElement {
  const view = useCalmView();
  // What is set and held changes by hand, and what is found seldom: both are told at once.
  useStore((state) => state.control);
  useStore((state) => state.cluster?.findings);
  useStore((state) => state.cluster?.ended);
  const state = useStore.getState();
  return (
    <div className="visually-hidden">
      <p role="status" aria-live="polite">
        {view ? summaryOf(view, phaseOf(state, view.summary)) : ''}
      </p>
      <ul aria-label="Nodes and their states">
        {definition.nodes.map((node, index) => (
          <li key={index}>
            <button type="button" tabIndex={-1} onClick={() => selectNode(node.id)}>
              {spokenNode(titleOf(node), node.type, view ? own(view.nodes, node.id) : undefined, lostAt(state, node.id))}
              {spokenMarks(nodeMarks(state, node.id))}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Sixty changes a second are nothing to listen to: one look per second, and one at the end. */
function useCalmView(): ExecutionView | null {
  const [view, setView] = useState(() => shownView(useStore.getState()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const look = (): void => {
      timer = null;
      setView(shownView(useStore.getState()));
    };
    const stop = useStore.subscribe((state, before) => {
      if (shownView(state) !== shownView(before)) timer ??= setTimeout(look, BEAT_MILLIS);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, []);
  return view;
}

export function summaryOf(view: ExecutionView, phase: ShownPhase): string {
  const counts = stateCounts(view);
  const finished = counts.success + counts.failed + counts.skipped;
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : '';
  return `Execution ${PHASE_WORDS[phase].toLowerCase()}: ${finished} of ${view.definition.nodes.length} nodes finished${failed}.`;
}
