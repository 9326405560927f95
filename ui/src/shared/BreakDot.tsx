import type { ReactElement } from 'react';
import './breakDot.css';

interface Props {
  /** Null is a place where one could be. */
  mark: { state: 'set' | 'disabled'; look: 'plain' | 'condition' | 'log'; broken: boolean } | null;
}

/** A breakpoint: a full dot that holds, a diamond that only speaks, an empty one that is disabled. */
export function BreakDot({ mark }: Props): ReactElement {
  const look = mark?.look ?? 'plain';
  return (
    <svg className={`break-dot break-${mark?.state ?? 'none'}`} viewBox="0 0 16 16" aria-hidden="true">
      {look === 'log' ? <path className="break-shape" d="M8 1.8L14.2 8 8 14.2 1.8 8z" /> : <circle className="break-shape" cx="8" cy="8" r="5.6" />}
      {mark?.broken === true && <path className="break-sign" d="M8 4.6v4M8 11v.2" />}
      {mark?.broken !== true && look === 'condition' && <path className="break-sign" d="M5.4 6.7h5.2M5.4 9.3h5.2" />}
    </svg>
  );
}
