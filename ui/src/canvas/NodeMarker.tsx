import type { ReactElement } from 'react';
import type { Diagnostic } from '../generated/protocol';
import { Icon } from '../shared/icons';

/** What is wrong with a node in its file, told at the node on hover and to screen readers. */
export function NodeMarker({ diagnostics }: { diagnostics: Diagnostic[] }): ReactElement | null {
  if (diagnostics.length === 0) return null;
  const severity = diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 'error' : 'warning';
  return (
    <span className={`card-marker card-marker-${severity}`} data-testid="node-marker">
      <Icon name={severity} size={14} />
      <span className="card-bubble" role="tooltip">
        {diagnostics.map((diagnostic, index) => (
          <span key={index} className="card-bubble-line">
            {diagnostic.message}
            {diagnostic.hint !== '' && <span className="card-bubble-hint">{diagnostic.hint}</span>}
            {diagnostic.place && <span className="card-bubble-hint numbers">Line {diagnostic.place.line}</span>}
          </span>
        ))}
      </span>
    </span>
  );
}
