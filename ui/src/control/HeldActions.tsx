import type { ReactElement } from 'react';
import { Button, IconButton } from '../shared/Button';
import { labelOf, useCommands } from './useCommands';

/** What can be done with the chosen message: on by one node, on for good, twice, or not at all. */
export function HeldActions(): ReactElement {
  const commands = useCommands(['step', 'into', 'out', 'release', 'duplicate', 'drop']);
  const [first, ...rest] = commands;
  return (
    <div className="held-actions" role="toolbar" aria-label="With this message">
      {first && (
        <Button icon={first.icon} title={labelOf(first)} data-testid={`held-${first.id}`} onClick={first.act}>
          {first.text}
        </Button>
      )}
      {rest.map((command) => (
        <IconButton key={command.id} icon={command.icon} label={labelOf(command)} className={command.id === 'drop' ? 'held-drop' : ''} data-testid={`held-${command.id}`} onClick={command.act} />
      ))}
    </div>
  );
}
