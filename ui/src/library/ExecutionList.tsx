import { type ReactElement, memo } from 'react';
import type { ExecutionSummary } from '../generated/protocol';
import { CopyButton } from '../shared/CopyButton';
import { EmptyState } from '../shared/EmptyState';
import { formatDuration, formatMoment, formatRelative, shortId } from '../shared/format';
import { ObservedMark } from '../shared/ObservedMark';
import { moveFocus } from '../shared/roving';
import { PhaseLabel } from '../shared/states';
import { useNow } from '../shared/useNow';
import { openExecution } from '../state/actions';
import { useStore } from '../state/store';

/** More than anyone scrolls through; what is left out is counted. */
const MOST_SHOWN = 200;

export function ExecutionList(): ReactElement {
  const executions = useStore((state) => state.executions);
  const open = useStore((state) => (state.open.type === 'execution' ? state.open.executionId : null));
  const ready = useStore((state) => state.ready);
  const elsewhere = useStore((state) => state.runsOn === 'cluster');
  const now = useNow();
  const shown = executions.slice(0, MOST_SHOWN);
  const stop = shown.some((each) => each.execution_id === open) ? open : (shown[0]?.execution_id ?? null);

  return (
    <section className="library-part library-executions" aria-label="Executions">
      <h2 className="panel-heading">
        Executions {executions.length > 0 && <span className="badge">{executions.length}</span>}
      </h2>
      {ready && executions.length === 0 && (
        <EmptyState icon="play" title="Nothing has run yet">
          {elsewhere ? 'Executions of the cluster appear here when they start, and are kept.' : 'Select a workflow and press Run. Every execution is kept here.'}
        </EmptyState>
      )}
      <ul className="library-list" onKeyDown={moveFocus}>
        {shown.map((execution) => (
          <li key={execution.execution_id} className="library-item">
            <ExecutionRow
              execution={execution}
              open={open === execution.execution_id}
              tabStop={stop === execution.execution_id}
              when={formatRelative(execution.started_at, now)}
            />
          </li>
        ))}
      </ul>
      {executions.length > MOST_SHOWN && (
        <p className="library-more">{executions.length - MOST_SHOWN} older ones are not shown.</p>
      )}
    </section>
  );
}

interface RowProps {
  execution: ExecutionSummary;
  open: boolean;
  tabStop: boolean;
  when: string;
}

const ExecutionRow = memo(function ExecutionRow({ execution, open, tabStop, when }: RowProps): ReactElement {
  const { execution_id, title, phase, started_at, ended_at } = execution;
  return (
    <>
      <button
        type="button"
        data-roving
        data-testid={`execution-${execution_id}`}
        tabIndex={tabStop ? 0 : -1}
        className={open ? 'row library-row library-open' : 'row library-row'}
        aria-current={open}
        onClick={() => void openExecution(execution_id)}
      >
        <span className="library-line">
          <span className="library-title" title={title}>
            {title}
          </span>
          <span className="library-when" title={formatMoment(started_at)}>
            {when}
          </span>
        </span>
        <span className="library-line library-second">
          <PhaseLabel phase={phase} />
          {ended_at !== null && <span className="library-took numbers">{formatDuration(ended_at - started_at)}</span>}
          <code className="library-id" title={execution_id}>
            {shortId(execution_id)}
          </code>
        </span>
        {execution.observed && (
          <span className="library-line">
            <ObservedMark observed={execution.observed} />
          </span>
        )}
      </button>
      <span className="library-copy">
        <CopyButton label={`Copy id ${execution_id}`} text={() => execution_id} tabIndex={open ? 0 : -1} />
      </span>
    </>
  );
});
