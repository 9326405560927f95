/** One field that leads everywhere: to workflows, executions, nodes, items, and to everything that can be done. */
import { type KeyboardEvent, type MouseEvent, type ReactElement, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Icon } from '../shared/icons';
import { indexAfterKey } from '../shared/roving';
import { useStore } from '../state/store';
import { type Entry, entriesOf } from './entries';
import { bestOf } from './match';
import './palette.css';

const MOST = 60;

interface Props {
  onClose: () => void;
  onHelp: () => void;
}

export function Palette({ onClose, onHelp }: Props): ReactElement {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  // What there is when it is opened: a list that moves under the eye is no list to choose from.
  const [state] = useState(() => useStore.getState());
  const found = useMemo(() => bestOf(query, entriesOf(state, query, onHelp), MOST), [state, query, onHelp]);

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView?.({ block: 'nearest' });
  }, [at]);

  const choose = (entry: Entry | undefined): void => {
    if (!entry) return;
    dialog.current?.close();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[at]);
      return;
    }
    const next = event.key === 'Home' || event.key === 'End' ? null : indexAfterKey(event.key, at, found.length);
    if (next === null) return;
    event.preventDefault();
    setAt(next);
  };

  return (
    <dialog ref={dialog} className="palette" aria-label="Go to anything" onClose={onClose} onClick={closeBeside} data-testid="palette">
      <div className="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
          aria-label="Go to a workflow, an execution, a node, an item, or a command"
          placeholder="Workflow, execution, node, item number, or command"
          value={query}
          autoFocus
          data-testid="palette-field"
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul ref={list} id={`${id}-list`} role="listbox" aria-label="Found" className="palette-list">
        {found.map((entry, index) => (
          <li
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-entry"
            onPointerMove={() => setAt(index)}
            onClick={() => choose(entry)}
          >
            <EntryLine entry={entry} />
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="palette-none">Nothing is called like that.</p>}
    </dialog>
  );
}

/** The dialog itself is only hit beside what stands in it. */
function closeBeside(event: MouseEvent<HTMLDialogElement>): void {
  if (event.target === event.currentTarget) event.currentTarget.close();
}

function EntryLine({ entry: { icon, text, extra, keys, kind } }: { entry: Entry }): ReactElement {
  return (
    <>
      <Icon name={icon} />
      <span className="palette-text">{text}</span>
      {extra !== undefined && <span className="palette-extra">{extra}</span>}
      {keys !== undefined && <kbd>{keys}</kbd>}
      <span className="palette-kind">{kind}</span>
    </>
  );
}
