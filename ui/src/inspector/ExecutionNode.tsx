import { type ReactElement, useState } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { Tabs } from '../shared/Tabs';
import { type ShownState, shownFiringState, shownState } from '../shared/shownState';
import { keyAt, nodeViewOf } from '../state/selectors';
import { useStore } from '../state/store';
import { Barrier } from './Barrier';
import { CredentialNote } from './CredentialNote';
import { FailedAttempts } from './FailedAttempts';
import { FiringFacts } from './FiringFacts';
import { FiringPane, type Tab } from './FiringPane';
import { FiringPicker } from './FiringPicker';
import { ItemNote } from './ItemNote';
import { NodeFacts } from './NodeFacts';
import { NodeHeading } from './NodeHeading';
import { usePinKey } from './PinButton';
import { useNodeDetail } from './useNodeDetail';

/** A node of an execution: one of its firings, with what it was asked, what it saw and what came of it. */
export function ExecutionNode({ node, executionId }: { node: Node; executionId: string }): ReactElement {
  const gathers = useStore((current) => (nodeViewOf(current, node.id)?.progress ?? null) !== null);
  const key = useStore((current) => keyAt(current, node.id));
  const detail = useNodeDetail(executionId, node.id, key);
  const state = useStore((current) => shownState(nodeViewOf(current, node.id)));
  const [chosen, setChosen] = useState<string | null>(null);
  const firings = detail.type === 'loaded' ? detail.detail.firings : [];
  const firing = firings.find((each) => each.message_id === chosen) ?? firings[0] ?? null;
  usePinKey(node, firing);

  return (
    <>
      <NodeHeading node={node} state={state} />
      <CredentialNote node={node} />
      <NodeFacts nodeId={node.id} />
      {(node.type === 'aggregator' || node.type === 'merge' || gathers) && <Barrier node={node} executionId={executionId} />}
      <ItemNote nodeId={node.id} />
      {detail.type === 'failed' && (
        <EmptyState icon="error" title={detail.problem.message}>
          {detail.problem.hint}
        </EmptyState>
      )}
      {detail.type === 'loaded' && firings.length > 1 && (
        <FiringPicker firings={firings} total={detail.detail.total} chosen={firing} onChoose={setChosen} />
      )}
      {firing && <FiringFacts firing={firing} />}
      {firing && <FailedAttempts firing={firing} />}
      {detail.type !== 'failed' && <FiringTabs node={node} firing={firing} firings={firings} state={firing ? shownFiringState(firing) : state} loading={detail.type === 'loading'} />}
    </>
  );
}

interface FiringTabsProps {
  node: Node;
  firing: FiringView | null;
  firings: FiringView[];
  state: ShownState;
  loading: boolean;
}

function FiringTabs({ node, firing, firings, state, loading }: FiringTabsProps): ReactElement {
  const [picked, setPicked] = useState<Tab | null>(null);
  const failed = firing !== null && firing.error !== null;
  const tabs: { id: Tab; label: string; alarming?: boolean }[] = [
    { id: 'parameters', label: 'Parameters' },
    { id: 'input', label: 'Input' },
    { id: 'output', label: 'Output' },
  ];
  // A tab that would be empty by nature is absent.
  if (failed) tabs.push({ id: 'error', label: 'Error', alarming: true });
  const active = picked !== null && (picked !== 'error' || failed) ? picked : automatic(firing);
  return (
    <Tabs tabs={tabs} active={active} onSelect={setPicked}>
      <FiringPane tab={active} node={node} firing={firing} firings={firings} state={state} loading={loading} />
    </Tabs>
  );
}

/** What one most likely wants to see first. */
function automatic(firing: FiringView | null): Tab {
  if (firing?.error) return 'error';
  return firing?.output ? 'output' : 'parameters';
}
