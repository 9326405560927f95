import { type ReactElement, useState } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import type { Beside } from './Inspector';
import { EmptyState } from '../shared/EmptyState';
import { NodeHeading } from '../shared/Heading';
import { StateLabel } from '../shared/states';
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
import { usePinKey } from './PinButton';
import { StaleNote } from './StaleNote';
import { useNodeDetail } from './useNodeDetail';

/** A node of an execution: one of its firings, with what it was asked, what it saw and what came of it. */
export function ExecutionNode({ node, executionId, why }: { node: Node; executionId: string; why?: Beside['why'] }): ReactElement {
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
      <NodeHeading node={node} state={<StateLabel state={state} />} />
      <CredentialNote node={node} />
      <NodeFacts nodeId={node.id} />
      {(node.type === 'aggregator' || node.type === 'merge' || gathers) && <Barrier node={node} executionId={executionId} />}
      <StaleNote nodeId={node.id} />
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
      {detail.type !== 'failed' && <FiringTabs node={node} firing={firing} firings={firings} state={firing ? shownFiringState(firing) : state} loading={detail.type === 'loading'} why={why} />}
    </>
  );
}

interface FiringTabsProps {
  node: Node;
  firing: FiringView | null;
  firings: FiringView[];
  state: ShownState;
  loading: boolean;
  why: Beside['why'];
}

function FiringTabs({ node, firing, firings, state, loading, why }: FiringTabsProps): ReactElement {
  const [picked, setPicked] = useState<Tab | null>(null);
  const failed = firing !== null && firing.error !== null;
  const item = useStore((current) => keyAt(current, node.id));
  const replay = useStore((current) => current.host.mode === 'replay');
  const reasons = why !== undefined && !replay;
  const tabs: { id: Tab; label: string; alarming?: boolean }[] = [
    { id: 'parameters', label: 'Parameters' },
    { id: 'input', label: 'Input' },
    { id: 'output', label: 'Output' },
  ];
  // A tab that would be empty by nature is absent.
  if (failed) tabs.push({ id: 'error', label: 'Error', alarming: true });
  if (reasons) tabs.push({ id: 'why', label: 'Why' });
  const possible = picked !== null && tabs.some(({ id }) => id === picked);
  const active = possible && picked !== null ? picked : automatic(firing, state, reasons && !loading);
  return (
    <Tabs tabs={tabs} active={active} onSelect={setPicked}>
      {active === 'why' ? why?.(node.id, firing?.key ?? item) : null}
      <FiringPane tab={active} node={node} firing={firing} firings={firings} state={state} loading={loading} />
    </Tabs>
  );
}

/** What one most likely wants to see first. */
function automatic(firing: FiringView | null, state: ShownState, reasons: boolean): Tab {
  if (firing?.error) return 'error';
  // Of what did not run one wants to know why.
  if (!firing && reasons && (state === 'skipped' || state === 'idle')) return 'why';
  return firing?.output ? 'output' : 'parameters';
}
