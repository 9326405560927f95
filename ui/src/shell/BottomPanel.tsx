/** The bottom: what is looked at closely, one kind at a time. */
import type { ReactElement, ReactNode } from 'react';
import { ClusterPanel } from '../cluster/ClusterPanel';
import { ComparePanel } from '../compare/ComparePanel';
import { BreakpointsPanel } from '../control/BreakpointsPanel';
import { HeldPanel } from '../control/HeldPanel';
import { ItemsPanel } from '../items/ItemsPanel';
import { Problems } from '../problems/Problems';
import { IconButton } from '../shared/Button';
import { formatCompact } from '../shared/format';
import { splitsOf } from '../shared/scopes';
import { type TabDescription, Tabs } from '../shared/Tabs';
import { TimelinePanel } from '../timeline/TimelinePanel';
import { WaitsPanel } from '../waits/WaitsPanel';
import type { BottomTab } from '../state/preferences';
import { controlledPath, heldTotal } from '../state/control';
import { countSeverity, runningHere, shownDefinition, shownEntry, shownSummary } from '../state/selectors';
import { type State, showBottom, showPanel, useStore } from '../state/store';

/** Tabs that would be empty by nature are absent. Text, because text is equal when it says the same. */
export function bottomTabs(state: State): string {
  const runs = shownSummary(state) !== null;
  const tabs: BottomTab[] = [];
  if (runs && state.compared) tabs.push('compare');
  if (runs) tabs.push('timeline');
  if (runs && splitsOf(shownDefinition(state)).length > 0) tabs.push('items');
  if (runs || state.cluster) tabs.push('waits');
  if (runningHere(state) !== null) tabs.push('held');
  if (controlledPath(state) !== null && (runs || isSet(state))) tabs.push('breakpoints');
  if ((shownEntry(state)?.diagnostics.length ?? 0) > 0) tabs.push('problems');
  if (state.cluster) tabs.push('cluster');
  return tabs.join(' ');
}

/** Somebody has set something, or wants to. */
function isSet({ control: { controls }, preferences }: State): boolean {
  return controls.breakpoints.length + controls.mocks.length > 0 || preferences.bottomTab === 'breakpoints';
}

const LABELS: { [K in BottomTab]: string } = {
  timeline: 'Timeline',
  items: 'Items',
  waits: 'Waits',
  held: 'Held',
  breakpoints: 'Breakpoints',
  problems: 'Problems',
  compare: 'Compare',
  cluster: 'Cluster',
};

/** A file that is wrong is what its author looks at, and a cluster is seen as a whole first; while something runs, what was chosen last. */
const UNASKED: readonly BottomTab[] = ['problems', 'cluster'];

export function BottomPanel(): ReactElement | null {
  const ids = useStore(bottomTabs).split(' ').filter((id) => id !== '') as BottomTab[];
  const wish = useStore((state) => state.preferences.bottomTab);
  const problems = useStore((state) => shownEntry(state)?.diagnostics.length ?? 0);
  const worst = useStore((state) => (countSeverity(shownEntry(state)?.diagnostics ?? [], 'error') > 0 ? 'error' : 'warning'));
  const running = useStore((state) => shownSummary(state) !== null);
  const held = useStore(heldTotal);
  const breakpoints = useStore((state) => state.control.controls.breakpoints.length + state.control.controls.mocks.length);
  const [first] = ids;
  if (first === undefined) return null;
  const usual = running ? first : (UNASKED.find((id) => ids.includes(id)) ?? first);
  const active = wish !== null && ids.includes(wish) ? wish : usual;
  const tabs = ids.map((id): TabDescription<BottomTab> => ({
    id,
    label: LABELS[id],
    badge: badgeOf(id, { problems, worst, held, breakpoints }),
  }));
  return (
    <div className="bottom-panel" data-testid="bottom-panel">
      <Tabs
        label="Bottom panel"
        tabs={tabs}
        active={active}
        onSelect={showBottom}
        aside={<IconButton icon="close" label="Hide this panel (Ctrl+J)" onClick={() => showPanel('bottom', false)} />}
      >
        <Content tab={active} />
      </Tabs>
    </div>
  );
}

function badgeOf(id: BottomTab, counts: { problems: number; worst: string; held: number; breakpoints: number }): ReactNode {
  if (id === 'problems') return <span className={`badge badge-${counts.worst}`}>{counts.problems}</span>;
  if (id === 'held' && counts.held > 0) return <span className="badge badge-held">{formatCompact(counts.held)}</span>;
  if (id === 'breakpoints' && counts.breakpoints > 0) return <span className="badge">{counts.breakpoints}</span>;
  return undefined;
}

function Content({ tab }: { tab: BottomTab }): ReactElement {
  switch (tab) {
    case 'compare':
      return <ComparePanel />;
    case 'timeline':
      return <TimelinePanel />;
    case 'waits':
      return <WaitsPanel />;
    case 'held':
      return <HeldPanel />;
    case 'breakpoints':
      return <BreakpointsPanel />;
    case 'items':
      return <ItemsPanel />;
    case 'problems':
      return <Problems />;
    case 'cluster':
      return <ClusterPanel />;
  }
}
