/** The left side: what can be run, and what was. */
import type { ReactElement } from 'react';
import { useStore } from '../state/store';
import { ExecutionList } from './ExecutionList';
import { WorkflowList } from './WorkflowList';
import './library.css';

export function Library(): ReactElement {
  const replay = useStore((state) => state.host.mode === 'replay');
  return (
    <nav className="library" aria-label="Library">
      {!replay && <WorkflowList />}
      <ExecutionList />
    </nav>
  );
}
