/** The right side while something is held at the selected node: the message, unless one wants to see everything else. */
import type { ReactElement, ReactNode } from 'react';
import { inspectedHeld } from '../state/control';
import { nodeById, shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { HeldInspector } from './HeldInspector';
import { NodeControl } from './NodeControl';
import './control.css';

/** `children` is what is shown where nothing is held. */
export function RightPanel({ children }: { children: ReactNode }): ReactElement {
  const held = useStore((state) => (state.control.aspect === 'held' ? inspectedHeld(state) : null));
  const node = useStore((state) => nodeById(shownDefinition(state), held === null ? null : state.selectedNode));
  return (
    <div className="right-panel">
      <NodeControl />
      {held && node ? <HeldInspector held={held} node={node} /> : children}
    </div>
  );
}
