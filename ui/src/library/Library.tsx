/** The left side: what can be run, and what was. */
import type { ReactElement, ReactNode } from 'react';
import { useStore } from '../state/store';
import { ExecutionList } from './ExecutionList';
import { WorkflowList } from './WorkflowList';
import './library.css';

export function Library({ foot }: { foot?: ReactNode }): ReactElement {
  // A recording and a cluster have no folder to run something from.
  const here = useStore((state) => state.host.mode !== 'replay' && state.runsOn === 'here');
  return (
    <nav className="library" aria-label="Library">
      {here && <WorkflowList />}
      <ExecutionList />
      {foot}
    </nav>
  );
}
