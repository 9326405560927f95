import type { ReactElement } from 'react';
import type { WorkflowEntry } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { EmptyState } from '../shared/EmptyState';
import { plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';
import { fetchRecent } from '../state/files';
import { countSeverity, shownEntry } from '../state/selectors';
import { openGallery, openWorkflow, useStore } from '../state/store';
import { useInSight } from './useInSight';

/** Whoever asks for it anew, also from there, wants to see what is there now. */
function showGallery(): void {
  openGallery();
  void fetchRecent();
}

export function WorkflowList(): ReactElement {
  const workflows = useStore((state) => state.workflows);
  const folder = useStore((state) => state.folder);
  const shown = useStore((state) => shownEntry(state)?.path ?? null);
  const open = useStore((state) => (state.open.type === 'workflow' ? state.open.path : null));
  const ready = useStore((state) => state.ready);
  const nothing = useStore((state) => state.open.type === 'nothing');
  const stop = workflows.some((entry) => entry.path === shown) ? shown : (workflows[0]?.path ?? null);
  const list = useInSight(shown);

  return (
    <section className="library-part" aria-label="Workflows">
      <div className="panel-heading library-heading">
        <h2 title={folder}>Workflows</h2>
        {workflows.length > 0 && <span className="badge">{workflows.length}</span>}
        <IconButton icon="gallery" label="All stories" aria-pressed={nothing} data-testid="open-gallery" onClick={showGallery} />
      </div>
      {ready && workflows.length === 0 && (
        <EmptyState icon="folder" title="No workflows yet">
          {folder === '' ? (
            'This window watches no folder.'
          ) : (
            <>
              Save a workflow as a .json file in <code>{folder}</code> and it appears here.
            </>
          )}
        </EmptyState>
      )}
      <ul ref={list} className="library-list" onKeyDown={moveFocus}>
        {workflows.map((entry) => (
          <li key={entry.path}>
            <WorkflowRow entry={entry} open={open === entry.path} near={shown === entry.path} tabStop={stop === entry.path} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  entry: WorkflowEntry;
  open: boolean;
  /** The shown execution was started from this file. */
  near: boolean;
  tabStop: boolean;
}

function WorkflowRow({ entry, open, near, tabStop }: RowProps): ReactElement {
  return (
    <button
      type="button"
      data-roving
      data-testid={`workflow-${entry.path}`}
      data-shown={near}
      tabIndex={tabStop ? 0 : -1}
      className={`row library-row${open ? ' library-open' : ''}${near && !open ? ' library-near' : ''}`}
      aria-current={open}
      title={[entry.title, entry.story, entry.path].filter((line) => line !== '').join('\n')}
      onClick={() => openWorkflow(entry.path)}
    >
      <span className="library-line">
        <span className="library-title">{entry.title}</span>
        <Findings entry={entry} />
      </span>
      <span className="library-story">{entry.story === '' ? entry.path : entry.story}</span>
    </button>
  );
}

function Findings({ entry }: { entry: WorkflowEntry }): ReactElement | null {
  const errors = countSeverity(entry.diagnostics, 'error');
  const warnings = countSeverity(entry.diagnostics, 'warning');
  return (
    <>
      {errors > 0 && (
        <span className="badge badge-error" title={plural(errors, 'error')}>
          <Icon name="error" size={12} /> {errors}
          <span className="visually-hidden"> {errors === 1 ? 'error' : 'errors'}</span>
        </span>
      )}
      {warnings > 0 && (
        <span className="badge badge-warning" title={plural(warnings, 'warning')}>
          <Icon name="warning" size={12} /> {warnings}
          <span className="visually-hidden"> {warnings === 1 ? 'warning' : 'warnings'}</span>
        </span>
      )}
    </>
  );
}
