/** Where one begins: every workflow of the folder as a story that one click runs. */
import type { ReactElement, ReactNode } from 'react';
import { EmptyState } from '../shared/EmptyState';
import { useStore } from '../state/store';
import { FirstWorkflow } from './FirstWorkflow';
import { StoryCard } from './StoryCard';
import './gallery.css';

/** `recent` is what was open before, told by another feature. */
export function Gallery({ recent }: { recent?: ReactNode }): ReactElement | null {
  const ready = useStore((state) => state.ready);
  const workflows = useStore((state) => state.workflows);
  const folder = useStore((state) => state.folder);
  const elsewhere = useStore((state) => state.runsOn === 'cluster');
  if (!ready) return null;
  if (elsewhere) return <ClusterWelcome />;
  return (
    <section className="gallery" aria-label="Stories" data-testid="gallery" tabIndex={-1}>
      <header className="gallery-head">
        <h2>{headingOf(folder, workflows.length)}</h2>
        {workflows.length > 0 && folder !== '' && (
          <p>
            Every workflow in <code>{folder}</code>. It runs on this machine and nothing leaves it; each step is recorded, so you can go
            back to any moment.
          </p>
        )}
      </header>
      {recent}
      {workflows.length === 0 && folder === '' && (
        <EmptyState icon="folder" title="No folder of workflows">
          Start with one, as in <code>runeglass-desktop FOLDER</code>, and its workflows appear here, ready to run. Or drop a recording on this
          window to see what happened elsewhere.
        </EmptyState>
      )}
      {workflows.length === 0 && folder !== '' && <FirstWorkflow folder={folder} />}
      {workflows.length > 0 && (
        <ul className="gallery-list">
          {workflows.map((entry) => (
            <StoryCard key={entry.path} entry={entry} />
          ))}
        </ul>
      )}
    </section>
  );
}

function headingOf(folder: string, workflows: number): string {
  if (folder === '') return 'Open something';
  return workflows === 0 ? 'Begin with a first workflow' : 'Pick a story and run it';
}

/** A cluster runs what others start: there is something to watch as soon as they do. */
function ClusterWelcome(): ReactElement {
  const some = useStore((state) => state.executions.length > 0);
  return (
    <section className="gallery" aria-label="The cluster" data-testid="cluster-welcome" tabIndex={-1}>
      <header className="gallery-head">
        <h2>The cluster, live</h2>
        <p>Every execution is kept as it happens. You can watch it here, go back to any moment of it, and stop it.</p>
      </header>
      <EmptyState icon="play" title={some ? 'Pick an execution' : 'Waiting for the first execution'}>
        {some ? (
          'The list on the left has the newest first.'
        ) : (
          <>
            Somebody starts one on the cluster with
            <code className="gallery-command">runeglass run FILE --amqp … --redis …</code>
          </>
        )}
      </EmptyState>
    </section>
  );
}
