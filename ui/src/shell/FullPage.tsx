import type { ReactElement, ReactNode } from 'react';
import type { Problem } from '../generated/protocol';
import { RecentFiles } from '../recent/RecentFiles';
import { OpenRecording } from '../run/RecordingControls';
import { Icon } from '../shared/icons';
import { type State, useStore } from '../state/store';

/** What stands in the way of everything: the host refuses us, or was never there. */
function obstacleOf({ connection, ready }: State): Problem | null {
  if (connection.type === 'refused') return connection.problem;
  return connection.type === 'reconnecting' && !ready ? connection.problem : null;
}

export function FullPage({ children }: { children: ReactNode }): ReactElement {
  const obstacle = useStore(obstacleOf);
  if (!obstacle) return <>{children}</>;
  return (
    <main className="full-page" data-testid="full-page">
      <Icon name="error" size={28} />
      <h2>{obstacle.message}</h2>
      <p>{obstacle.hint}</p>
      <OpenRecording text="Open recording…" />
      <RecentFiles />
    </main>
  );
}
