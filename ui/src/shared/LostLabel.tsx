import type { ReactElement } from 'react';
import './states.css';

/** Where it stands for the state of a node. */
export const LOST_WORD = 'Lost';

export const LOST_REASON = 'its timer was claimed and what it should have resumed was never sent';

/** What nobody will bring on any more. It is no state of a node: whoever had it says nothing about it. */
export function LostLabel({ word = 'lost' }: { word?: string }): ReactElement {
  return (
    <span className="state-label state-lost">
      <LostIcon />
      <span className="state-word">{word}</span>
    </span>
  );
}

export function LostIcon(): ReactElement {
  return (
    <svg className="state-icon state-lost" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4.75 5.75a3.25 3.25 0 1 1 4.9 2.8C8.5 9.25 8 9.8 8 10.9M8 13.6v.1" strokeWidth="2" />
    </svg>
  );
}
