import { type KeyboardEvent, type ReactElement, useId, useState } from 'react';
import type { WorkflowEntry } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { run } from '../state/actions';

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
  const [text, setText] = useState(sample);
  const parsed = parseInput(text);
  const id = useId();

  const start = (): void => {
    if (parsed.type !== 'value') return;
    onClose();
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
          {parsed.type === 'wrong' ? `Not JSON: ${parsed.message}` : 'Starts as the workflow’s sample.'}
        </p>
        {text !== sample && <Button onClick={() => setText(sample)}>Reset</Button>}
        <Button icon="play" look="primary" disabled={parsed.type === 'wrong'} data-testid="run-with-input" onClick={start}>
          Run with input
        </Button>
      </div>
    </div>
  );
}
