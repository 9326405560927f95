/** Stores and recordings that were open before, one click away. */
import { type ReactElement, useEffect, useMemo } from 'react';
import type { RecentKind } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { Icon, type IconName } from '../shared/icons';
import { fetchRecent } from '../state/files';
import { type Recent, recentOf } from '../state/recent';
import { useStore } from '../state/store';
import './recent.css';

const KINDS: { [K in RecentKind]: { icon: IconName; word: string } } = {
  store: { icon: 'table', word: 'store' },
  case: { icon: 'file', word: 'recording' },
  recording: { icon: 'file', word: 'recording' },
};

export function RecentFiles(): ReactElement | null {
  const recent = useStore((state) => state.recent);
  const preferences = useStore((state) => state.preferences);
  const files = useMemo(() => recentOf({ recent, preferences }), [recent, preferences]);
  // What is there may have gone since the list was made.
  useEffect(() => void fetchRecent(), []);
  if (files.length === 0) return null;
  return (
    <section className="recent" aria-label="Opened before" data-testid="recent">
      <h3 className="recent-title">Opened before</h3>
      <ul className="recent-list">
        {files.map((file) => (
          <RecentRow key={file.id} file={file} />
        ))}
      </ul>
    </section>
  );
}

function RecentRow({ file: { name, where, kind, missing, open, remove } }: { file: Recent }): ReactElement {
  const { icon, word } = KINDS[kind];
  return (
    <li className={missing ? 'recent-file recent-missing' : 'recent-file'}>
      <button type="button" className="recent-open" title={where} data-testid={`recent-${name}`} onClick={open}>
        <Icon name={missing ? 'warning' : icon} />
        <span className="recent-name">{name}</span>
        <span className="recent-word">{missing ? 'not there any more' : word}</span>
      </button>
      <IconButton icon="close" label={`Remove ${name} from this list`} data-testid={`forget-${name}`} onClick={remove} />
    </li>
  );
}
