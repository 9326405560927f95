/** The bottom: what is looked at closely, one kind at a time. */
import type { ReactElement } from 'react';
import { ClusterPanel } from '../cluster/ClusterPanel';
import { ItemsPanel } from '../items/ItemsPanel';
import { Problems } from '../problems/Problems';
import { IconButton } from '../shared/Button';
import { splitsOf } from '../shared/scopes';
import { type TabDescription, Tabs } from '../shared/Tabs';
import { TimelinePanel } from '../timeline/TimelinePanel';
import { WaitsPanel } from '../waits/WaitsPanel';
import type { BottomTab } from '../state/preferences';
import { countSeverity, shownDefinition, shownEntry, shownSummary } from '../state/selectors';
import { type State, showBottom, showPanel, useStore } from '../state/store';

/** Tabs that would be empty by nature are absent. Text, because text is equal when it says the same. */
export function bottomTabs(state: State): string {
  const runs = shownSummary(state) !== null;
  const tabs: BottomTab[] = [];
  if (runs) tabs.push('timeline');
  if (runs && splitsOf(shownDefinition(state)).length > 0) tabs.push('items');
  if (runs) tabs.push('waits');
  if ((shownEntry(state)?.diagnostics.length ?? 0) > 0) tabs.push('problems');
  if (state.cluster) tabs.push('cluster');
  return tabs.join(' ');
}

const LABELS: { [K in BottomTab]: string } = { timeline: 'Timeline', items: 'Items', waits: 'Waits', problems: 'Problems', cluster: 'Cluster' };

export function BottomPanel(): ReactElement | null {
  const ids = useStore(bottomTabs).split(' ').filter((id) => id !== '') as BottomTab[];
  const wish = useStore((state) => state.preferences.bottomTab);
  const problems = useStore((state) => shownEntry(state)?.diagnostics.length ?? 0);
  const worst = useStore((state) => (countSeverity(shownEntry(state)?.diagnostics ?? [], 'error') > 0 ? 'error' : 'warning'));
  const running = useStore((state) => shownSummary(state) !== null);
  const [first] = ids;
  if (first === undefined) return null;
  // A file that is wrong is what its author looks at; while it runs, what was chosen last.
  const usual = !running && ids.includes('problems') ? 'problems' : first;
  const active = wish !== null && ids.includes(wish) ? wish : usual;
  const tabs = ids.map((id): TabDescription<BottomTab> => ({
    id,
    label: LABELS[id],
    badge: id === 'problems' ? <span className={`badge badge-${worst}`}>{problems}</span> : undefined,
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

function Content({ tab }: { tab: BottomTab }): ReactElement {
  switch (tab) {
    case 'timeline':
      return <TimelinePanel />;
    case 'waits':
      return <WaitsPanel />;
    case 'items':
      return <ItemsPanel />;
    case 'problems':
      return <Problems />;
    case 'cluster':
      return <ClusterPanel />;
  }
}
