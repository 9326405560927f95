import { type ReactElement, memo } from 'react';
import type { ExecutionSummary } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { CopyButton } from '../shared/CopyButton';
import { EmptyState } from '../shared/EmptyState';
import { formatCount, formatDuration, formatMoment, formatRelative, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { ObservedMark } from '../shared/ObservedMark';
import { type ShownPhase, shownPhase } from '../shared/phase';
import { moveFocus } from '../shared/roving';
import { PhaseLabel } from '../shared/states';
import { useNow } from '../shared/useNow';
import { Side } from '../shared/verdicts';
import { openExecution } from '../state/actions';
import { compare } from '../state/compare';
import { aheadOf, wrongWith } from '../state/selectors';
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
  const cluster = useStore((state) => state.cluster);
  const clocks = useStore((state) => state.clocks);
  const wrong = useStore(wrongWith);
  const comparable = useStore((state) => state.host.mode !== 'replay');
  const sides = useStore((state) => (state.compared ? `${state.compared.a} ${state.compared.b}` : ''));
  const now = useNow();
  const unlisted = useStore((state) => state.unlisted);
  const shown = foremost(executions);
  const hidden = executions.length - shown.length + unlisted;
  const stop = shown.some((each) => each.execution_id === open) ? open : (shown[0]?.execution_id ?? null);
  const list = useInSight(open);

  return (
    <section className="library-part library-executions" aria-label="Executions">
      <h2 className="panel-heading">
        Executions {executions.length > 0 && <span className="badge">{formatCount(executions.length + unlisted)}</span>}
      </h2>
      {ready && executions.length === 0 && (
        <EmptyState icon="play" title="Nothing has run yet">
          {cluster !== null && `What is seen of ${cluster.connection.name} appears here, too. `}
          {elsewhere ? 'Executions of the cluster appear here when they start, and are kept.' : 'Select a workflow and press Run. Every execution is kept here.'}
        </EmptyState>
      )}
      <ul ref={list} className="library-list" onKeyDown={moveFocus}>
        {shown.map((execution) => (
          <li key={execution.execution_id} className="library-item">
            <ExecutionRow
              execution={execution}
              phase={shownPhase(execution, cluster)}
              wrong={wrong.get(execution.execution_id) ?? ''}
              open={open === execution.execution_id}
              tabStop={stop === execution.execution_id}
              when={formatRelative(execution.started_at, now + aheadOf({ cluster, clocks }, execution))}
              against={comparable && open !== execution.execution_id ? open : null}
              side={sideOf(sides, execution.execution_id)}
            />
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <p className="library-more">
          {executions.length < MOST_LISTED ? '' : 'More than '}
          {formatCount(hidden)} older {hidden === 1 ? 'one is' : 'ones are'} not shown.
        </p>
      )}
    </section>
  );
}

/** The latest, and before them whatever has not ended: what hangs is what one looks for. In the order they have. */
export function foremost(executions: readonly ExecutionSummary[]): readonly ExecutionSummary[] {
  if (executions.length <= MOST_SHOWN) return executions;
  const unfinished = executions.filter(({ ended_at }) => ended_at === null).slice(0, MOST_SHOWN);
  let room = MOST_SHOWN - unfinished.length;
  const kept = new Set(unfinished);
  return executions.filter((each) => {
    if (kept.has(each)) return true;
    if (each.ended_at === null || room === 0) return false;
    room -= 1;
    return true;
  });
}

interface RowProps {
  execution: ExecutionSummary;
  phase: ShownPhase;
  /** What was found wrong with it, a sentence a line. */
  wrong: string;
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

const ExecutionRow = memo(function ExecutionRow({ execution, phase, wrong, open, tabStop, when, against, side }: RowProps): ReactElement {
  const { execution_id, title, started_at, ended_at, origin } = execution;
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
            {wrong !== '' && <Wrong sentences={wrong} />}
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

/** It may say that it runs, and never come to an end. */
function Wrong({ sentences }: { sentences: string }): ReactElement {
  return (
    <span className="library-wrong" title={sentences}>
      <Icon name="warning" size={12} />
      {formatCount(sentences.split('\n').length)} wrong
    </span>
  );
}
