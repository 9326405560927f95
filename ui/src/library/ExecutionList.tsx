import { type ReactElement, memo } from 'react';
import type { ExecutionSummary } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { CopyButton } from '../shared/CopyButton';
import { EmptyState } from '../shared/EmptyState';
import { formatDuration, formatMoment, formatRelative, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { ObservedMark } from '../shared/ObservedMark';
import { moveFocus } from '../shared/roving';
import { PhaseLabel } from '../shared/states';
import { useNow } from '../shared/useNow';
import { Side } from '../shared/verdicts';
import { openExecution } from '../state/actions';
import { compare } from '../state/compare';
import { useStore } from '../state/store';
import { MOST_LISTED } from '../state/updates';
import { useInSight } from './useInSight';

/** More than anyone scrolls through; what is left out is counted. */
const MOST_SHOWN = 200;

export function ExecutionList(): ReactElement {
  const executions = useStore((state) => state.executions);
  const open = useStore((state) => (state.open.type === 'execution' ? state.open.executionId : null));
  const ready = useStore((state) => state.ready);
  const elsewhere = useStore((state) => state.runsOn === 'cluster');
  const cluster = useStore((state) => state.cluster?.connection.name ?? null);
  const comparable = useStore((state) => state.host.mode !== 'replay');
  const sides = useStore((state) => (state.compared ? `${state.compared.a} ${state.compared.b}` : ''));
  const now = useNow();
  const shown = executions.slice(0, MOST_SHOWN);
  const stop = shown.some((each) => each.execution_id === open) ? open : (shown[0]?.execution_id ?? null);
  const list = useInSight(open);

  return (
    <section className="library-part library-executions" aria-label="Executions">
      <h2 className="panel-heading">
        Executions {executions.length > 0 && <span className="badge">{executions.length}</span>}
      </h2>
      {ready && executions.length === 0 && (
        <EmptyState icon="play" title="Nothing has run yet">
          {cluster !== null && `What is seen of ${cluster} appears here, too. `}
          {elsewhere ? 'Executions of the cluster appear here when they start, and are kept.' : 'Select a workflow and press Run. Every execution is kept here.'}
        </EmptyState>
      )}
      <ul ref={list} className="library-list" onKeyDown={moveFocus}>
        {shown.map((execution) => (
          <li key={execution.execution_id} className="library-item">
            <ExecutionRow
              execution={execution}
              open={open === execution.execution_id}
              tabStop={stop === execution.execution_id}
              when={formatRelative(execution.started_at, now)}
              against={comparable && open !== execution.execution_id ? open : null}
              side={sideOf(sides, execution.execution_id)}
            />
          </li>
        ))}
      </ul>
      {executions.length > MOST_SHOWN && (
        <p className="library-more">
          {executions.length < MOST_LISTED ? '' : 'More than '}
          {executions.length - MOST_SHOWN} older ones are not shown.
        </p>
      )}
    </section>
  );
}

interface RowProps {
  execution: ExecutionSummary;
  open: boolean;
  tabStop: boolean;
  when: string;
  /** The open execution, where this one can be held against it. */
  against: string | null;
  /** Which side of a comparison it is. */
  side: 'a' | 'b' | null;
}

function sideOf(sides: string, executionId: string): 'a' | 'b' | null {
  const [a, b] = sides.split(' ');
  if (executionId === a) return 'a';
  return executionId === b ? 'b' : null;
}

const ExecutionRow = memo(function ExecutionRow({ execution, open, tabStop, when, against, side }: RowProps): ReactElement {
  const { execution_id, title, phase, started_at, ended_at, origin } = execution;
  return (
    <>
      <button
        type="button"
        data-roving
        data-testid={`execution-${execution_id}`}
        data-shown={open}
        tabIndex={tabStop ? 0 : -1}
        className={open ? 'row library-row library-open' : 'row library-row'}
        aria-current={open}
        onClick={() => void openExecution(execution_id)}
        onKeyDown={(event) => {
          // Beside the keys of the list: what is in the eye is held against what is open.
          if (event.key === 'c' && !event.ctrlKey && !event.metaKey && !event.altKey && against !== null) void compare(execution_id, against);
        }}
      >
        <span className="library-line">
          {side && <Side side={side} />}
          {origin && (
            <span className="library-fork" title={`Forked from ${shortId(origin.parent)}`}>
              <Icon name="fork" size={13} />
              <span className="visually-hidden">Fork:</span>
            </span>
          )}
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
        {against !== null && (
          <IconButton
            icon="compare"
            label={`Compare the open execution with ${shortId(execution_id)}`}
            tabIndex={-1}
            data-testid={`compare-${execution_id}`}
            onClick={() => void compare(execution_id, against)}
          />
        )}
        <CopyButton label={`Copy id ${execution_id}`} text={() => execution_id} tabIndex={open ? 0 : -1} />
      </span>
    </>
  );
});
