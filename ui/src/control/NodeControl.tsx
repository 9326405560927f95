/** What can be set and done at the selected node, above everything that is known of it. */
import { type ReactElement, useState } from 'react';
import type { Node } from '../generated/protocol';
import { BreakDot } from '../shared/BreakDot';
import { Icon } from '../shared/icons';
import { Segments } from '../shared/Segments';
import { controlledPath, inspectedHeld, setAspect } from '../state/control';
import type { CommandId } from '../state/controlCommands';
import { nodeMarks } from '../state/controlMarks';
import { nodeById, shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { MockForm } from './MockForm';
import { labelOf, useCommands } from './useCommands';
import './control.css';

/** The node they are about stands below them, so the words are short. */
const WORDS: { [K in CommandId]?: string } = { 'run-to': 'Run to here', 'pause-node': 'Pause here', 'resume-node': 'Resume here', 'run-until': 'New run to here' };

export function NodeControl(): ReactElement | null {
  const node = useStore((state) => nodeById(shownDefinition(state), state.selectedNode));
  const able = useStore((state) => controlledPath(state) !== null);
  if (node === null || !able) return null;
  return <Bar key={node.id} node={node} />;
}

function Bar({ node }: { node: Node }): ReactElement {
  const [mocking, setMocking] = useState(false);
  const marks = useStore((state) => nodeMarks(state, node.id));
  const held = useStore((state) => inspectedHeld(state) !== null);
  const aspect = useStore((state) => state.control.aspect);
  const [breakpoint] = useCommands(['breakpoint']);
  const commands = useCommands(['run-to', 'pause-node', 'resume-node', 'run-until']);
  return (
    <div className="node-control" data-testid="node-control">
      <div className="node-tools" role="toolbar" aria-label="Control of this node">
        {breakpoint && (
          <button type="button" className="node-tool" title={labelOf(breakpoint)} data-testid="node-breakpoint" onClick={breakpoint.act}>
            <BreakDot mark={marks.before} />
            Breakpoint
          </button>
        )}
        {commands.map((command) => (
          <button key={command.id} type="button" className="node-tool" title={labelOf(command)} data-testid={`node-${command.id}`} onClick={command.act}>
            <Icon name={command.icon} />
            {WORDS[command.id]}
          </button>
        ))}
        <button type="button" className={`node-tool${marks.mock === null ? '' : ` node-mocked node-mocked-${marks.mock}`}`} title="Mock what it answers…" aria-expanded={mocking} data-testid="node-mock" onClick={() => setMocking(!mocking)}>
          <Icon name="simulate" />
          Mock
        </button>
      </div>
      {held && (
        <Segments
          label="Show of the node"
          active={aspect}
          options={[
            { id: 'held', label: 'Held message' },
            { id: 'node', label: 'All firings' },
          ]}
          onSelect={setAspect}
        />
      )}
      {mocking && <MockForm node={node} onClose={() => setMocking(false)} />}
    </div>
  );
}
