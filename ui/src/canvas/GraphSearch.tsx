/** Finds nodes in the graph: all that match stand out, and Enter goes from one to the next. */
import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { IconButton } from '../shared/Button';
import { Icon } from '../shared/icons';
import { shownDefinition } from '../state/selectors';
import { selectNode, setSearch, useStore } from '../state/store';
import { foundNodes } from './search';

export function GraphSearch(): ReactElement | null {
  const open = useStore((state) => state.search !== null);
  useSearchKey();
  return open ? <Field /> : null;
}

function Field(): ReactElement {
  const search = useStore((state) => state.search ?? '');
  const definition = useStore(shownDefinition);
  const found = foundNodes(definition, search);
  const [at, setAt] = useState(-1);
  const go = (by: number): void => {
    if (found.length === 0) return;
    const next = (at + by + found.length) % found.length;
    setAt(next);
    selectNode(found[next] ?? null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
  };
  return (
    <div className="graph-search" role="search" data-testid="graph-search" onKeyDown={onKeyDown}>
      <Icon name="search" />
      <input
        autoFocus
        value={search}
        placeholder="Find nodes"
        aria-label="Find nodes by title, id, kind or parameter"
        spellCheck={false}
        data-testid="graph-search-field"
        onChange={(event) => {
          setSearch(event.target.value);
          setAt(-1);
        }}
      />
      <span className="graph-search-count numbers" role="status">
        {search.trim() === '' ? '' : found.length === 0 ? 'none' : at < 0 ? `${found.length} found` : `${at + 1} of ${found.length}`}
      </span>
      <IconButton icon="up" label="Previous (Shift+Enter)" disabled={found.length === 0} onClick={() => go(-1)} />
      <IconButton icon="down" label="Next (Enter)" disabled={found.length === 0} onClick={() => go(1)} />
      <IconButton icon="close" label="Close (Esc)" onClick={close} />
    </div>
  );
}

/** The keyboard goes back to the graph. */
function close(): void {
  setSearch(null);
  document.querySelector<HTMLElement>('.canvas [data-node][tabindex="0"]')?.focus({ preventScroll: true });
}

/** F in the graph, Ctrl+F anywhere; in the inspector Ctrl+F belongs to the value that is shown. */
function useSearchKey(): void {
  const field = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.key.toLowerCase() !== 'f' || event.altKey || event.shiftKey || target.closest('dialog')) return;
      const command = event.ctrlKey || event.metaKey;
      if (!command && target.closest('input, textarea, select, [role="tree"]')) return;
      event.preventDefault();
      field.current = command ? (target.closest('.inspector')?.querySelector<HTMLElement>('.json-search input') ?? null) : null;
      if (field.current) field.current.focus();
      else if (useStore.getState().search === null) setSearch('');
      else document.querySelector<HTMLElement>('.graph-search input')?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
