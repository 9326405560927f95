import type { ReactElement } from 'react';
import { Icon } from './icons';

/** Stands where the state of the node stands otherwise: whatever else is true of it, it is held. */
export function HeldLabel(): ReactElement {
  return (
    <span className="state-label state-held">
      <Icon name="pause" size={14} />
      <span className="state-word">Held</span>
    </span>
  );
}
