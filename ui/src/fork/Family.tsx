/** Where an execution comes from, and what comes from it. */
import { type ReactElement, useEffect, useState } from 'react';
import type { ExecutionSummary, ForkBranch, Origin } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { formatCount, formatDuration, shortId } from '../shared/format';
import { shownPhase } from '../shared/phase';
import { moveFocus } from '../shared/roving';
import { PhaseLabel } from '../shared/states';
import { titleOf } from '../shared/title';
import { forksOf, openExecution } from '../state/actions';
import { compare } from '../state/compare';
import { nodeById, shownDefinition, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { type Branch, treeOf } from './tree';
import './fork.css';

export function Family(): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  const branches = useBranches(executionId);
  // An execution that stands alone has no family to speak of.
  if (executionId === null || branches.length < 2) return null;
  return (
    <section className="family" aria-label="Forks" data-testid="family">
      <h3 className="panel-heading">Forks</h3>
      <ul className="family-list" onKeyDown={moveFocus}>
        {treeOf(branches).map((branch) => (
          <li key={branch.id} style={{ paddingInlineStart: branch.depth * 16 }}>
            <Member branch={branch} open={branch.id === executionId} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Member({ branch: { id, depth, origin }, open }: { branch: Branch; open: boolean }): ReactElement {
  const summary = useStore((state): ExecutionSummary | null => state.executions.find((each) => each.execution_id === id) ?? null);
  const phase = useStore((state) => summary && shownPhase(summary, state.cluster));
  const definition = useStore(shownDefinition);
  const title = (nodeId: string): string => {
    const node = nodeById(definition, nodeId);
    return node ? titleOf(node) : nodeId;
  };
  return (
    <div className="family-member">
      <button type="button" data-roving tabIndex={open ? 0 : -1} className={open ? 'row family-row family-open' : 'row family-row'} aria-current={open} data-testid={`family-${id}`} onClick={() => void openExecution(id)}>
        {depth > 0 && <span className="family-branch" aria-hidden="true" />}
        {phase && <PhaseLabel phase={phase} brief />}
        <span className="family-words">{origin === null ? 'The first one' : originWords(origin, title)}</span>
        <code>{shortId(id)}</code>
        {summary && summary.ended_at !== null && <span className="numbers family-took">{formatDuration(summary.ended_at - summary.started_at)}</span>}
      </button>
      {origin && <IconButton icon="compare" label={`Compare with where it comes from, ${shortId(origin.parent)}`} onClick={() => void compare(origin.parent, id)} />}
    </div>
  );
}

export function originWords({ position, edit, again, run = [] }: Origin, title: (nodeId: string) => string): string {
  if (again?.type === 'failed') return `Failed items of ${title(again.node_id)} again`;
  if (again?.type === 'from') return `From ${title(again.node_id)} on again`;
  if (again?.type === 'item') return `Item ${again.key} again${again.node_id ? `, from ${title(again.node_id)} on` : ''}`;
  const changed = edit ? ` with another ${edit.type === 'context' ? Object.keys(edit.entries).join(', ') : edit.type}` : '';
  const asked = run.length > 0 ? `, asking ${run.map(title).join(', ')}` : '';
  return `From event ${formatCount(position)}${changed}${asked}`;
}

/** Asked again when another execution appears: it may be one of the family. */
function useBranches(executionId: string | null): ForkBranch[] {
  const count = useStore((state) => state.executions.length);
  const able = useStore((state) => state.host.mode !== 'replay');
  const [answer, setAnswer] = useState<{ id: string; branches: ForkBranch[] } | null>(null);
  useEffect(() => {
    if (executionId === null || !able) return undefined;
    let wanted = true;
    forksOf(executionId).then(
      (branches) => wanted && setAnswer({ id: executionId, branches }),
      // Who is related to whom is beside the point when the host does not answer; that it does not is said elsewhere.
      () => wanted && setAnswer(null),
    );
    return () => {
      wanted = false;
    };
  }, [executionId, count, able]);
  return answer !== null && answer.id === executionId ? answer.branches : [];
}
