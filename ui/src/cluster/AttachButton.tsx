import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { canAttach } from '../state/selectors';
import { showAttach, useStore } from '../state/store';
import './cluster.css';

/** At the foot of the library. While a cluster is attached the banner says what can be done. */
export function AttachButton(): ReactElement | null {
  const offered = useStore((state) => canAttach(state) && state.cluster === null);
  if (!offered) return null;
  return (
    <div className="attach-foot">
      <Button icon="eye" data-testid="attach" title="Look into a live cluster without touching it" onClick={() => showAttach(true)}>
        Attach…
      </Button>
    </div>
  );
}
