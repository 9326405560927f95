import { type ReactElement, useRef, useState } from 'react';
import { Button } from '../shared/Button';
import { cancel, run } from '../state/actions';
import { runnable, runningExecution } from '../state/selectors';
import { useStore } from '../state/store';
import { InputEditor } from './InputEditor';
import { useRunKeys } from './useRunKeys';

/** Run, its input, and Stop while the shown execution runs. What cannot be done is absent. */
export function RunControls(): ReactElement | null {
  // Selected in pieces: the answer of `runnable` is a new object every time.
  const type = useStore((state) => runnable(state).type);
  const reason = useStore((state) => {
    const answer = runnable(state);
    return answer.type === 'blocked' ? answer.reason : '';
  });
  const entry = useStore((state) => {
    const answer = runnable(state);
    return answer.type === 'ready' ? answer.entry : null;
  });
  const running = useStore(runningExecution);
  const [editing, setEditing] = useState(false);
  const inputButton = useRef<HTMLSpanElement>(null);

  const start = (): void => {
    if (entry) void run(entry.path);
  };
  const stop = (): void => {
    if (running !== null) void cancel(running);
  };
  useRunKeys({ start, stop, canStart: entry !== null, canStop: running !== null });

  const close = (): void => {
    setEditing(false);
    inputButton.current?.querySelector('button')?.focus();
  };

  if (type === 'absent' && running === null) return null;
  return (
    <div className="run-controls">
      {running !== null && (
        <Button icon="stop" look="danger" data-testid="stop" title="Stop (Shift+F5)" onClick={stop}>
          Stop
        </Button>
      )}
      {type !== 'absent' && (
        <div className="run-pair">
          <Button
            icon="play"
            look="primary"
            data-testid="run"
            // Not `disabled`: a blocked button still has to say why to those who reach it with the keyboard.
            aria-disabled={entry === null}
            title={entry === null ? reason : `Run ${entry.title} (Ctrl+Enter)`}
            onClick={start}
          >
            Run
          </Button>
          <Button
            icon="stepStart"
            className="run-more"
            title="Step from the start: run, and hold every message before its work"
            disabled={entry === null}
            data-testid="run-paused"
            onClick={() => {
              if (entry) void run(entry.path, undefined, { paused: true });
            }}
          >
            <span className="run-word">Step</span>
          </Button>
          <span ref={inputButton}>
            <Button
              icon="braces"
              className="run-more"
              title="Edit the input of the run"
              aria-expanded={editing}
              disabled={entry === null}
              data-testid="run-input"
              onClick={() => setEditing(!editing)}
            >
              <span className="run-word">Input</span>
            </Button>
          </span>
        </div>
      )}
      {entry === null && reason !== '' && (
        <p className="run-reason" data-testid="run-blocked">
          {reason}
        </p>
      )}
      {editing && entry && <InputEditor key={entry.path} entry={entry} onClose={close} />}
    </div>
  );
}
