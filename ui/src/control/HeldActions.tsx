import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { labelOf, useCommands } from './useCommands';

const WORDS = { release: 'Let go', duplicate: 'Send twice', drop: 'Drop' } as const;
type Action = keyof typeof WORDS;
const ACTIONS = Object.keys(WORDS) as Action[];

/** What can be done with this message alone: on for good, twice, or not at all. Steps are in the bar over the graph. */
export function HeldActions(): ReactElement {
  const commands = useCommands(ACTIONS);
  return (
    <div className="held-actions" role="toolbar" aria-label="With this message">
      {commands.map((command) => (
        <Button
          key={command.id}
          icon={command.icon}
          look={command.id === 'drop' ? 'danger' : 'plain'}
          title={labelOf(command)}
          aria-label={labelOf(command)}
          data-testid={`held-${command.id}`}
          onClick={command.act}
        >
          {WORDS[command.id as Action]}
        </Button>
      ))}
    </div>
  );
}
