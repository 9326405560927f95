/** The same payload twice: of this firing, and of another one of this node, here or in another execution of the file. */
import { type ReactElement, useEffect, useId, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { FiringView, Node, PayloadView } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { EmptyState } from '../shared/EmptyState';
import { formatMoment, shortId } from '../shared/format';
import { JsonDiff } from '../shared/json/JsonDiff';
import { PHASE_WORDS, shownPhase } from '../shared/phase';
import { latestDetail } from '../state/actions';
import { shownSummary } from '../state/selectors';
import { type State, useStore } from '../state/store';
import type { PayloadPart } from './ComparedPayload';
import { nameOf } from './FiringPicker';

const MOST_EXECUTIONS = 20;

interface Props {
  part: PayloadPart;
  node: Node;
  firing: FiringView;
  firings: FiringView[];
  onClose: () => void;
}

interface Candidate {
  id: string;
  label: string;
  group: string;
}

export function Comparison({ part, node, firing, firings, onClose }: Props): ReactElement {
  const id = useId();
  const [candidates] = useState(() => candidatesOf(useStore.getState(), firing, firings));
  const [chosen, setChosen] = useState(candidates[0]?.id ?? '');
  const other = useOther(chosen, node.id, firing, firings);
  const groups = [...new Set(candidates.map(({ group }) => group))];
  return (
    <>
      <div className="comparison-head">
        <label htmlFor={id}>Against</label>
        <select id={id} value={chosen} data-testid="compare-with" onChange={(event) => setChosen(event.target.value)}>
          {groups.map((group) => (
            <optgroup key={group} label={group}>
              {candidates
                .filter((each) => each.group === group)
                .map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.label}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
        <IconButton icon="close" label="Stop comparing" onClick={onClose} />
      </div>
      <Compared before={typeof other === 'string' ? other : (other?.[part] ?? null)} after={firing[part]} />
    </>
  );
}

function Compared({ before, after }: { before: PayloadView | string | null; after: PayloadView | null }): ReactElement {
  if (before === 'loading') return <p className="inspector-loading">Loading…</p>;
  if (typeof before === 'string') return <EmptyState icon="error" title="It could not be read">{before}</EmptyState>;
  if (before?.type !== 'whole' || after?.type !== 'whole') {
    return (
      <EmptyState icon="compare" title="Nothing to compare with">
        {before === null ? 'The node had no such value there.' : 'One of both is too large to be shown as a whole.'}
      </EmptyState>
    );
  }
  return <JsonDiff before={before.data.json} after={after.data.json} label="What is different" />;
}

function candidatesOf(state: State, firing: FiringView, firings: FiringView[]): Candidate[] {
  const mine = shownSummary(state);
  const here = firings
    .filter((each) => each.message_id !== firing.message_id)
    .map((each) => ({ id: `firing ${each.message_id}`, label: nameOf(each), group: 'Firings of this node' }));
  const elsewhere = state.executions
    .filter((each) => mine !== null && each.path === mine.path && each.execution_id !== mine.execution_id)
    .slice(0, MOST_EXECUTIONS)
    .map((each) => ({
      id: `execution ${each.execution_id}`,
      label: `${formatMoment(each.started_at).slice(0, 19)} · ${PHASE_WORDS[shownPhase(each, state.cluster)].toLowerCase()} · ${shortId(each.execution_id)}`,
      group: 'The same in another execution',
    }));
  return [...elsewhere, ...here];
}

/** The other firing; `loading`, or the words about why it cannot be read. */
function useOther(chosen: string, nodeId: string, firing: FiringView, firings: FiringView[]): FiringView | string | null {
  const [answer, setAnswer] = useState<{ chosen: string; firing: FiringView | string | null } | null>(null);
  const executionId = chosen.startsWith('execution ') ? chosen.slice('execution '.length) : null;
  useEffect(() => {
    if (executionId === null) return undefined;
    let wanted = true;
    const show = (found: FiringView | string | null): void => {
      if (wanted) setAnswer({ chosen, firing: found });
    };
    latestDetail(executionId, nodeId, firing.key).then(
      (detail) => show(detail.firings[0] ?? null),
      (thrown: unknown) => show(problemOf(thrown).message),
    );
    return () => {
      wanted = false;
    };
  }, [executionId, chosen, nodeId, firing.key]);
  if (executionId === null) return firings.find((each) => `firing ${each.message_id}` === chosen) ?? null;
  return answer?.chosen === chosen ? answer.firing : 'loading';
}
