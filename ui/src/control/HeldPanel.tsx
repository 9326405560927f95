/** All messages that stand still because people want them to, in the order in which they were held. */
import type { KeyboardEvent, ReactElement } from 'react';
import type { HeldMessage } from '../generated/protocol';
import { Button } from '../shared/Button';
import { EmptyState } from '../shared/EmptyState';
import { keyWords, nodeTitle, sideWords, whyWords } from '../shared/controlWords';
import { formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';
import { chooseHeld, commanded, heldNow, heldTotal, selectedHeld, tell } from '../state/control';
import { shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { HeldActions } from './HeldActions';
import { Since } from './Since';
import './control.css';

export function HeldPanel(): ReactElement {
  const held = useStore(heldNow);
  const total = useStore(heldTotal);
  const selected = useStore((state) => selectedHeld(state)?.message_id ?? null);
  // The inspector has them beside what the message carries.
  const alone = useStore((state) => !state.preferences.panels.right.shown);
  if (held.length === 0) return <NothingHeld />;
  return (
    <section className="held" aria-label="Held messages" data-testid="held">
      {alone && (
        <div className="held-bar">
          <HeldActions />
        </div>
      )}
      <ul className="held-list" onKeyDown={choosing}>
        {held.map((message) => (
          <li key={`${message.message_id} ${message.gate}`}>
            <Row message={message} selected={message.message_id === selected} />
          </li>
        ))}
      </ul>
      {total > held.length && <p className="held-more">{formatCount(total - held.length)} more are held, and listed as these go on.</p>}
    </section>
  );
}

/** Arrows choose as they go, so that F10 is about what one looks at. */
function choosing(event: KeyboardEvent<HTMLElement>): void {
  moveFocus(event);
  const id = (document.activeElement as HTMLElement | null)?.dataset.message;
  const message = heldNow(useStore.getState()).find(({ message_id }) => message_id === id);
  if (message && event.defaultPrevented) chooseHeld(message);
}

function Row({ message, selected }: { message: HeldMessage; selected: boolean }): ReactElement {
  const title = useStore((state) => nodeTitle(shownDefinition(state), message.node_id));
  const hidden = useStore((state) => state.preferences.presenter);
  return (
    <button
      type="button"
      data-roving
      data-message={message.message_id}
      tabIndex={selected ? 0 : -1}
      className="row held-row"
      aria-pressed={selected}
      data-testid={`held-row-${message.node_id}-${message.key}`}
      onClick={() => chooseHeld(message)}
    >
      <span className="held-where">
        <Icon name="pause" size={14} />
        <span className="held-node">{title}</span>
        <code>{keyWords(message.key)}</code>
      </span>
      <span className="held-why">
        {whyWords(message.why)} · {sideWords(message)}
        {message.why.type === 'broken_condition' && <span className="held-complaint"> {message.why.complaint}</span>}
      </span>
      <span className="held-will">
        {message.edited && (
          <span className="held-edited">
            <Icon name="edit" size={12} /> edited
          </span>
        )}
        {message.asks !== null && (
          <span className="held-asks" title={hidden ? undefined : `Asks ${message.asks} when it goes on`}>
            <Icon name="http" size={13} /> {hidden ? 'asks the outside' : message.asks}
          </span>
        )}
        {message.error !== null && (
          <span className="held-failed">
            <Icon name="error" size={13} /> failed
          </span>
        )}
      </span>
      <span className="held-since">
        <Since at={message.since} />
      </span>
    </button>
  );
}

function NothingHeld(): ReactElement {
  const running = useStore((state) => commanded(state) !== null);
  const paused = useStore((state) => state.control.view?.paused === true);
  if (running && paused) {
    return (
      <EmptyState icon="pause" title="Paused, and nothing has come to a node yet">
        What works now is finished first, and timers go on; whatever comes next is held and listed here.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="pause"
      title="Nothing is held"
      action={
        running ? (
          <Button icon="pause" onClick={() => tell({ type: 'pause' })}>
            Pause (F6)
          </Button>
        ) : undefined
      }
    >
      {running
        ? 'Messages stop here at a breakpoint or when you pause; then you can step them one by one and change what they carry.'
        : 'While an execution runs, messages that stop at a breakpoint are listed here. Set one with F9 at a node, and run.'}
    </EmptyState>
  );
}
