/** Over the graph while something runs here: go on, hold, step, go back. What cannot be done now is absent. */
import { type ReactElement, Fragment } from 'react';
import { Button, IconButton } from '../shared/Button';
import { plural } from '../shared/format';
import { Icon } from '../shared/icons';
import type { CommandId, ControlCommand } from '../state/controlCommands';
import { heldTotal } from '../state/control';
import { runningHere } from '../state/selectors';
import { type State, showBottom, useStore } from '../state/store';
import { labelOf, useCommands } from './useCommands';

const GROUPS: readonly (readonly CommandId[])[] = [
  ['continue', 'pause'],
  ['step', 'into', 'out', 'run-to'],
  ['step-back', 'back-break'],
];
const ALL = GROUPS.flat();

export function ControlBar(): ReactElement | null {
  const running = useStore((state) => runningHere(state) !== null);
  const past = useStore((state) => state.past !== null);
  const status = useStore(statusOf);
  const commands = useCommands(ALL);
  // A moment that is over has its own chip, and cannot be held.
  if (!running || past) return null;
  const [state, words] = status.split('|');
  return (
    <div className={`control-bar control-${state}`} role="toolbar" aria-label="Control" data-testid="control-bar" data-control={state}>
      <button type="button" className="control-status" title="What is held" data-testid="control-status" onClick={() => showBottom('held')}>
        <Icon name={state === 'running' ? 'play' : 'pause'} size={14} />
        <span role="status">{words}</span>
      </button>
      {GROUPS.map((ids) => {
        const shown = commands.filter(({ id }) => ids.includes(id));
        if (shown.length === 0) return null;
        return (
          <Fragment key={ids[0]}>
            <span className="control-gap" />
            {shown.map((command) => (
              <Command key={command.id} command={command} />
            ))}
          </Fragment>
        );
      })}
    </div>
  );
}

/** What one does again and again has its word beside it. */
const WORDS: { [K in CommandId]?: string } = { continue: 'Continue', step: 'Step' };

function Command({ command }: { command: ControlCommand }): ReactElement {
  const { id, icon, act } = command;
  const word = WORDS[id];
  const common = { icon, className: `control-${id}`, 'data-testid': `control-${id}`, onClick: act };
  if (word === undefined) return <IconButton {...common} label={labelOf(command)} />;
  return (
    <Button {...common} title={labelOf(command)} aria-label={labelOf(command)}>
      <span className="control-word">{word}</span>
    </Button>
  );
}

function statusOf(state: State): string {
  const held = heldTotal(state);
  if (held > 0) return `held|${plural(held, 'message')} held`;
  const { view } = state.control;
  if (view?.paused) return 'held|Pausing';
  return (view?.paused_nodes.length ?? 0) > 0 ? `held|${plural(view?.paused_nodes.length ?? 0, 'node')} paused` : 'running|Running';
}
