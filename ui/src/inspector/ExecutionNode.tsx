import { type ReactElement, useState } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import type { Beside } from './Inspector';
import { EmptyState } from '../shared/EmptyState';
import { isEqual } from '../shared/json/diff';
import { NodeHeading } from '../shared/Heading';
import { LOST_WORD, LostLabel } from '../shared/LostLabel';
import { StateLabel } from '../shared/states';
import { Tabs } from '../shared/Tabs';
import { type ShownState, shownFiringState, shownState } from '../shared/shownState';
import { lostAt } from '../state/lostWaits';
import { keyAt, nodeViewOf } from '../state/selectors';
import { useStore } from '../state/store';
import { Barrier } from './Barrier';
import { CredentialNote } from './CredentialNote';
import { FailedAttempts } from './FailedAttempts';
import { FiringFacts } from './FiringFacts';
import { FiringPane, type Tab } from './FiringPane';
import { FiringPicker } from './FiringPicker';
import { ItemNote } from './ItemNote';
import { Arrived, NodeFacts } from './NodeFacts';
import { usePinKey } from './PinButton';
import { StaleNote } from './StaleNote';
import { useNodeDetail } from './useNodeDetail';

/** A node of an execution: one of its firings, with what it was asked, what it saw and what came of it. */
export function ExecutionNode({ node, executionId, why }: { node: Node; executionId: string; why?: Beside['why'] }): ReactElement {
  const gathers = useStore((current) => (nodeViewOf(current, node.id)?.progress ?? null) !== null);
  const joins = node.type === 'aggregator' || node.type === 'merge' || gathers;
  const key = useStore((current) => keyAt(current, node.id));
  const detail = useNodeDetail(executionId, node.id, key);
  const state = useStore((current) => shownState(nodeViewOf(current, node.id)));
  const lost = useStore((current) => lostAt(current, node.id));
  const [chosen, setChosen] = useState<string | null>(null);
  const firings = detail.type === 'loaded' ? detail.detail.firings : [];
  const firing = firings.find((each) => each.message_id === chosen) ?? firings[0] ?? null;
  usePinKey(node, firing);

  return (
    <>
      <NodeHeading node={node} state={lost === 'all' ? <LostLabel word={LOST_WORD} /> : <StateLabel state={state} />} />
      <CredentialNote node={node} />
      <NodeFacts nodeId={node.id} />
      {joins && <Barrier node={node} executionId={executionId} otherwise={<Arrived nodeId={node.id} />} />}
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
  // A tab that would be empty by nature is absent.
  const asked = hasParameters(node, firing);
  const tabs: { id: Tab; label: string; alarming?: boolean }[] = [
    ...(asked ? [{ id: 'parameters', label: 'Parameters' } as const] : []),
    { id: 'input', label: 'Input' },
    { id: 'output', label: 'Output' },
  ];
  if (failed) tabs.push({ id: 'error', label: 'Error', alarming: true });
  if (reasons) tabs.push({ id: 'why', label: 'Why' });
  const possible = picked !== null && tabs.some(({ id }) => id === picked);
  const active = possible && picked !== null ? picked : automatic(firing, state, { asked, reasons: reasons && !loading });
  return (
    <Tabs tabs={tabs} active={active} onSelect={setPicked}>
      {active === 'why' ? why?.(node.id, firing?.key ?? item) : null}
      <FiringPane tab={active} node={node} firing={firing} firings={firings} state={state} loading={loading} />
    </Tabs>
  );
}

/** What one most likely wants to see first. */
function automatic(firing: FiringView | null, state: ShownState, { asked, reasons }: { asked: boolean; reasons: boolean }): Tab {
  if (firing?.error) return 'error';
  // Of what did not run, or not yet, one wants to know why.
  if (!firing && reasons && (state === 'skipped' || state === 'idle' || state === 'waiting_barrier')) return 'why';
  if (firing?.output) return 'output';
  return asked ? 'parameters' : 'input';
}

function hasParameters(node: Node, firing: FiringView | null): boolean {
  if (Object.keys(node.parameters).length > 0) return true;
  const resolved = firing?.parameters ?? null;
  return resolved !== null && (resolved.type === 'cut' || !isEqual(resolved.data.json, {}));
}
