/** Everything that waits for a moment, over all executions: what is lost, then the first due first. */
import { type ReactElement, useEffect, useState } from 'react';
import type { Problem, TimerView, WaitBoard } from '../generated/protocol';
import { Button } from '../shared/Button';
import { EmptyState } from '../shared/EmptyState';
import { formatCountdown, formatCount, formatMoment, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { LostLabel } from '../shared/LostLabel';
import { moveFocus } from '../shared/roving';
import { Ahead, useNow } from '../shared/useNow';
import { openExecution, waitBoard } from '../state/actions';
import { commanded, tellOf } from '../state/control';
import { Poll } from '../state/poll';
import { cannotSeeTimers } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { LOST_REASON, canBeFired, inOrder, isLost, isOverdue, overdueReason, purposeOf, stands } from './words';
import './waits.css';

const PAUSE_MILLIS = 500;

type Answer = { type: 'loading' } | { type: 'board'; board: WaitBoard } | { type: 'failed'; problem: Problem };

export function WaitsPanel(): ReactElement | null {
  const answer = useBoard();
  const ahead = useStore((state) => state.cluster?.ahead ?? 0);
  if (answer.type === 'loading') return null;
  if (answer.type === 'failed') return <EmptyState icon="error" title={answer.problem.message}>{answer.problem.hint}</EmptyState>;
  const { board } = answer;
  if (board.total === 0) {
    return (
      <EmptyState icon="wait" title="Nothing waits for a moment">
        Waits, next attempts and joins that will give up appear here while an execution runs.
      </EmptyState>
    );
  }
  return (
    <section className="waits" aria-label="Timers" data-testid="waits">
      <NextTimer board={board} />
      <ul className="waits-list" onKeyDown={moveFocus}>
        {inOrder(board.timers).map((timer, at) => (
          <li key={`${timer.execution_id} ${timer.node_id} ${timer.key} ${timer.purpose.type}`}>
            <Ahead value={timer.keeper === 'here' ? 0 : ahead}>
              <Row timer={timer} board={board} tabStop={at === 0} />
            </Ahead>
            <FireNow timer={timer} />
          </li>
        ))}
      </ul>
      {board.total > board.timers.length && (
        <p className="waits-more">{formatCount(board.total - board.timers.length)} later ones are not listed.</p>
      )}
    </section>
  );
}

function useBoard(): Answer {
  const [answer, setAnswer] = useState<Answer>({ type: 'loading' });
  useEffect(() => {
    const poll = new Poll({
      ask: waitBoard,
      // The list hears of every change of every execution; of a cluster Redis may say more than its executions do.
      mark: () => [useStore.getState().executions, useStore.getState().cluster],
      show: (board) => setAnswer({ type: 'board', board }),
      fail: (problem) => setAnswer({ type: 'failed', problem }),
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, []);
  return answer;
}

function Row({ timer, board, tabStop }: { timer: TimerView; board: WaitBoard; tabStop: boolean }): ReactElement {
  const open = async (): Promise<void> => {
    await openExecution(timer.execution_id);
    selectNode(timer.node_id);
  };
  return (
    <button type="button" data-roving tabIndex={tabStop ? 0 : -1} className="row waits-row" onClick={() => void open()}>
      <Due timer={timer} />
      <span className="waits-about">
        <span className="waits-what">
          <span className="waits-name" title={timer.name}>
            {timer.name}
          </span>
          {!isLost(timer) && (
            <span className="waits-purpose" title={purposeOf(timer)}>
              {purposeOf(timer)}
            </span>
          )}
        </span>
        <Reason timer={timer} board={board} />
      </span>
      <span className="waits-where">
        <span className="waits-title" title={timer.title}>
          {timer.title}
        </span>
        <span className="waits-ids">
          <code title={timer.execution_id}>{shortId(timer.execution_id)}</code>
          {timer.key !== '' && <code title={timer.key}>{timer.key}</code>}
        </span>
      </span>
      <time className="waits-moment numbers">{formatMoment(timer.due)}</time>
    </button>
  );
}

/** A recording has no time left. */
function FireNow({ timer }: { timer: TimerView }): ReactElement | null {
  const able = useStore((state) => !state.host.readOnly);
  if (!able || !canBeFired(timer)) return null;
  const fire = (): void => tellOf(timer.execution_id, { type: 'fire_timer', node_id: timer.node_id, key: timer.key });
  return (
    <Button icon="trigger" className="waits-fire" title={`${timer.name}: do not wait any longer`} data-testid={`fire-${timer.node_id}`} onClick={fire}>
      Fire now
    </Button>
  );
}

/** The first timer of the execution that is shown. */
function NextTimer({ board }: { board: WaitBoard }): ReactElement | null {
  const running = useStore(commanded);
  if (running === null || !board.timers.some((timer) => timer.execution_id === running && canBeFired(timer))) return null;
  return (
    <div className="waits-bar">
      <Button icon="next" data-testid="next-timer" onClick={() => tellOf(running, { type: 'next_timer' })}>
        Jump to the next timer
      </Button>
      <p>Both clocks are kept: when it was due, and when it fired.</p>
    </div>
  );
}

/** Why it does not go on, which is read as a whole; nothing where it is in time. */
function Reason({ timer, board }: { timer: TimerView; board: WaitBoard }): ReactElement | null {
  const late = isOverdue(timer, useNow());
  const unseen = useStore(cannotSeeTimers);
  if (isLost(timer)) return <span className="waits-reason">{LOST_REASON}</span>;
  return late && !stands(timer) ? <span className="waits-reason">{overdueReason(timer, board, unseen)}</span> : null;
}

/** Only this and the reason are drawn again with every beat of the one clock. */
function Due({ timer }: { timer: TimerView }): ReactElement {
  const now = useNow();
  const late = isOverdue(timer, now);
  if (isLost(timer)) return <LostLabel />;
  if (stands(timer)) {
    return (
      <span className="waits-due" title="Something of its execution is held. When that goes on, it gets as much more time as was held.">
        <Icon name="pause" />
        stands still
      </span>
    );
  }
  return (
    <span className={late ? 'waits-due waits-late numbers' : 'waits-due numbers'}>
      <Icon name={late ? 'warning' : 'wait'} />
      {formatCountdown(timer.due, now)}
    </span>
  );
}
