import type { ReactElement } from 'react';
import type { FailureGroup } from '../generated/protocol';
import { Button } from '../shared/Button';
import { asSentence, essenceOf } from '../shared/errorWords';
import { formatCount } from '../shared/format';
import { codeOfGroup } from '../shared/itemStates';
import { moveFocus } from '../shared/roving';
import { titleOf } from '../shared/title';
import type { ItemFilter } from '../state/itemCells';
import { canFork, prepareFork } from '../state/fork';
import { nodeById, shownDefinition, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';

interface Props {
  groups: FailureGroup[];
  filter: ItemFilter;
  onFilter: (filter: ItemFilter) => void;
}

/** Failures that say the same but for numbers and names, the most frequent first. */
export function FailureGroups({ groups, filter, onFilter }: Props): ReactElement {
  const sorted = groups.map((group, at) => ({ group, code: codeOfGroup(at) })).toSorted((a, b) => b.group.count - a.group.count);
  return (
    <ul className="failure-groups" aria-label="Failures" onKeyDown={moveFocus}>
      {sorted.map(({ group, code }, at) => {
        const pressed = filter.type === 'group' && filter.code === code;
        return (
          <li key={code} className="failure-line">
            <button
              type="button"
              data-roving
              tabIndex={at === 0 ? 0 : -1}
              className="row failure-group"
              aria-pressed={pressed}
              title={group.message}
              onClick={() => onFilter(pressed ? { type: 'all' } : { type: 'group', code })}
            >
              <span className="failure-count numbers">{formatCount(group.count)} ×</span>
              <span className="failure-text">
                <span className="failure-message">{asSentence(essenceOf(group.message))}</span>
                <Where nodeId={group.node_id} />
              </span>
            </button>
            <RunAgain nodeId={group.node_id} />
          </li>
        );
      })}
    </ul>
  );
}

/** The failed items of that node, whatever they failed with: what is run again is decided by the node. */
function RunAgain({ nodeId }: { nodeId: string }): ReactElement | null {
  const able = useStore(canFork);
  const node = useStore((state) => nodeById(shownDefinition(state), nodeId));
  if (!able) return null;
  const label = `Re-run the failed items of ${node ? titleOf(node) : nodeId}, on this machine…`;
  return (
    <Button icon="replay" className="failure-again" title={label} aria-label={label} data-testid={`rerun-${nodeId}`} onClick={() => rerun(nodeId)}>
      <span className="failure-again-word">Re-run…</span>
    </Button>
  );
}

function rerun(nodeId: string): void {
  const executionId = shownSummary(useStore.getState())?.execution_id;
  if (executionId !== undefined) prepareFork({ executionId, from: 'failed', nodeId });
}

function Where({ nodeId }: { nodeId: string }): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), nodeId));
  return <span className="failure-where">at {node ? titleOf(node) : nodeId}</span>;
}
