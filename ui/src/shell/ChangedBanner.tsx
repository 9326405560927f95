import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { Icon } from '../shared/icons';
import { editorOf } from '../state/actions';
import { fileHasChanged, shownEntry } from '../state/selectors';
import { openWorkflow, useStore } from '../state/store';

export function ChangedBanner(): ReactElement | null {
  const changed = useStore(fileHasChanged);
  const path = useStore((state) => shownEntry(state)?.path ?? null);
  if (!changed || path === null) return null;
  const edit = editorOf();
  return (
    <div className="changed-banner" role="status" data-testid="changed-banner">
      <Icon name="file" />
      <p>The file has changed since. This is the graph the execution started with.</p>
      <Button onClick={() => openWorkflow(path)}>View the file</Button>
      {edit && (
        <Button icon="edit" onClick={() => edit(path)}>
          Edit it
        </Button>
      )}
    </div>
  );
}
