import type { ReactElement } from 'react';
import './states.css';

/** What nobody will bring on any more. It is no state of a node: whoever had it says nothing about it. */
export function LostLabel(): ReactElement {
  return (
    <span className="state-label state-lost">
      <svg className="state-icon" viewBox="0 0 16 16" aria-hidden="true">
        <path d="M4.75 5.75a3.25 3.25 0 1 1 4.9 2.8C8.5 9.25 8 9.8 8 10.9M8 13.6v.1" strokeWidth="2" />
      </svg>
      <span className="state-word">lost</span>
    </span>
  );
}
