import type { ReactElement } from 'react';
import { Icon } from '../shared/icons';
import { nodeMarks } from '../state/controlMarks';
import { staleReason } from '../state/stale';
import { useStore } from '../state/store';

/** Says that what stands below is not what a run would give now, and why. */
export function StaleNote({ nodeId }: { nodeId: string }): ReactElement | null {
  const why = useStore((state) => {
    const { stale } = nodeMarks(state, nodeId);
    return stale === null ? null : staleReason(state, stale);
  });
  if (why === null) return null;
  return (
    <div className="stale-note" role="status" data-testid="stale-note">
      <Icon name="warning" />
      <p>{why}</p>
    </div>
  );
}
