/** Where one begins: every workflow of the folder as a story that one click runs. */
import type { ReactElement, ReactNode } from 'react';
import { EmptyState } from '../shared/EmptyState';
import { useStore } from '../state/store';
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
        <h2>{folder === '' ? 'Open something' : 'Pick a story and run it'}</h2>
        {folder !== '' && (
          <p>
            Every workflow in <code>{folder}</code>. It runs on this machine and nothing leaves it; each step is recorded, so you can go
            back to any moment.
          </p>
        )}
      </header>
      {recent}
      {workflows.length === 0 ? (
        <EmptyState icon="folder" title={folder === '' ? 'No folder of workflows' : 'No workflows yet'}>
          {folder === '' ? (
            <>
              Start with one, as in <code>runeglass-desktop FOLDER</code>, and its workflows appear here, ready to run.
            </>
          ) : (
            <>
              Save a workflow as a .json file in <code>{folder}</code>: it appears here by itself, ready to run.
            </>
          )}{' '}
          Or drop a recording on this window to see what happened elsewhere.
        </EmptyState>
      ) : (
        <ul className="gallery-list">
          {workflows.map((entry) => (
            <StoryCard key={entry.path} entry={entry} />
          ))}
        </ul>
      )}
    </section>
  );
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
