import { type KeyboardEvent, type ReactElement, useId, useState } from 'react';
import type { WorkflowEntry } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { run } from '../state/actions';
import { rememberInput, useStore } from '../state/store';
import { RecentInputs } from './RecentInputs';

export type ParsedInput = { type: 'value'; value: unknown } | { type: 'wrong'; message: string };

export function parseInput(text: string): ParsedInput {
  try {
    return { type: 'value', value: JSON.parse(text) };
  } catch (thrown) {
    return { type: 'wrong', message: thrown instanceof Error ? thrown.message : 'This is not JSON.' };
  }
}

/** The value of `$trigger`, checked while it is written. */
export function InputEditor({ entry, onClose }: { entry: WorkflowEntry; onClose: () => void }): ReactElement {
  const sample = JSON.stringify(entry.definition?.sample_input ?? {}, null, 2);
  const [recent] = useState(() => useStore.getState().preferences.inputs[entry.path] ?? []);
  const [text, setText] = useState(recent[0] ?? sample);
  const parsed = parseInput(text);
  const id = useId();

  const start = (): void => {
    if (parsed.type !== 'value') return;
    onClose();
    if (text !== sample) rememberInput(entry.path, text);
    void run(entry.path, parsed.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start();
    }
  };

  return (
    <div className="input-editor" role="dialog" aria-label="Input of the run" onKeyDown={onKeyDown}>
      <div className="input-head">
        <label htmlFor={id}>
          Input, read as <code>$trigger</code>
        </label>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {recent.length > 0 && <RecentInputs sample={sample} recent={recent} text={text} onChoose={setText} />}
      <textarea
        id={id}
        autoFocus
        spellCheck={false}
        rows={Math.min(Math.max(text.split('\n').length, 6), 18)}
        value={text}
        aria-invalid={parsed.type === 'wrong'}
        aria-describedby={`${id}-note`}
        data-testid="run-input-text"
        onChange={(event) => setText(event.target.value)}
      />
      <div className="input-foot">
        <p id={`${id}-note`} className={parsed.type === 'wrong' ? 'input-wrong' : 'input-note'} role="status">
          {parsed.type === 'wrong' ? `Not JSON: ${parsed.message}` : origin(text, sample, recent)}
        </p>
        {text !== sample && recent.length === 0 && <Button onClick={() => setText(sample)}>Reset</Button>}
        <Button icon="play" look="primary" disabled={parsed.type === 'wrong'} data-testid="run-with-input" onClick={start}>
          Run with input
        </Button>
      </div>
    </div>
  );
}

function origin(text: string, sample: string, recent: readonly string[]): string {
  if (text === sample) return 'This is the workflow’s sample.';
  return recent.includes(text) ? 'You ran it with this before.' : 'It is remembered for the next time.';
}
