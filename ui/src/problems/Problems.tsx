/** The bottom: everything that is wrong with the shown file, not only the first complaint. */
import type { ReactElement } from 'react';
import type { Diagnostic } from '../generated/protocol';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';
import { countSeverity, shownEntry } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import './problems.css';

export function Problems(): ReactElement {
  const entry = useStore(shownEntry);
  const diagnostics = entry?.diagnostics ?? [];
  return (
    <section className="problems" aria-label="Problems" data-testid="problems">
      <div className="panel-heading">
        <Count diagnostics={diagnostics} severity="error" />
        <Count diagnostics={diagnostics} severity="warning" />
        <span className="problems-path">{entry?.path}</span>
      </div>
      <ul className="problems-list" onKeyDown={moveFocus}>
        {diagnostics.map((diagnostic, index) => (
          <li key={index}>
            <ProblemRow diagnostic={diagnostic} tabStop={index === 0} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Count({ diagnostics, severity }: { diagnostics: Diagnostic[]; severity: Diagnostic['severity'] }): ReactElement | null {
  const count = countSeverity(diagnostics, severity);
  return count === 0 ? null : (
    <span className={`badge badge-${severity}`}>
      <Icon name={severity} size={12} /> {count}
      <span className="visually-hidden"> {severity}s</span>
    </span>
  );
}

function ProblemRow({ diagnostic, tabStop }: { diagnostic: Diagnostic; tabStop: boolean }): ReactElement {
  const { severity, code, node_id, edge_id, place, message, hint } = diagnostic;
  const what = node_id ?? edge_id;
  return (
    <button
      type="button"
      data-roving
      tabIndex={tabStop ? 0 : -1}
      className="row problems-row"
      onClick={() => node_id !== undefined && selectNode(node_id)}
    >
      <span className={`problems-severity problems-${severity}`}>
        <Icon name={severity} />
        {severity === 'error' ? 'Error' : 'Warning'}
      </span>
      <span className="problems-text">
        <span className="problems-message">{message}</span>
        {hint !== '' && <span className="problems-hint">{hint}</span>}
      </span>
      <span className="problems-where">
        <span className="problems-code">{code}</span>
        <span className="problems-place">
          {what !== undefined && <code>{what}</code>}
          {place && (
            <span className="numbers">
              {place.line}:{place.column}
            </span>
          )}
        </span>
      </span>
    </button>
  );
}
