/** A value in the hands of people: checked while they write, sent when it is whole. */
import { type ReactElement, Suspense, lazy, useState } from 'react';
import type { Problem } from '../generated/protocol';
import { Button } from '../shared/Button';
import { Icon } from '../shared/icons';
import { faultOf } from '../shared/json/fault';

const Editor = lazy(() => import('../shared/json/Editor'));

interface Props {
  label: string;
  value: unknown;
  /** What becomes of what is written. */
  note: string;
  /** Answers with what is wrong about it. */
  onApply: (value: unknown) => Promise<Problem | null>;
  onClose: () => void;
}

export function PayloadEditor({ label, value, note, onApply, onClose }: Props): ReactElement {
  const [start] = useState(() => JSON.stringify(value, null, 2) ?? 'null');
  const [text, setText] = useState(start);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const fault = faultOf(text);
  const apply = async (): Promise<void> => {
    if (busy || fault) return;
    setBusy(true);
    const refused = await onApply(JSON.parse(text));
    setBusy(false);
    setProblem(refused);
    if (!refused) onClose();
  };
  return (
    <section className="payload-editor" aria-label={`Edit ${label.toLowerCase()}`} data-testid="payload-editor">
      <p className="payload-editor-note">{note}</p>
      <Suspense fallback={<p className="payload-editor-loading">Loading the editor…</p>}>
        <Editor
          label={label}
          text={start}
          onChange={(next) => {
            setText(next);
            setProblem(null);
          }}
          onApply={() => void apply()}
          onCancel={onClose}
        />
      </Suspense>
      <div className="payload-editor-foot">
        <p role="status" className={fault || problem ? 'payload-editor-fault' : 'payload-editor-fine'} data-testid="payload-fault">
          {fault && (
            <>
              <Icon name="error" /> Line {fault.line}, column {fault.column}: {fault.message}
            </>
          )}
          {!fault && problem && (
            <>
              <Icon name="error" /> {problem.message} <span className="payload-editor-hint">{problem.hint}</span>
            </>
          )}
          {!fault && !problem && (
            <>
              <Icon name="check" /> {text === start ? 'Nothing is changed yet.' : 'Valid JSON.'}
            </>
          )}
        </p>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" data-testid="payload-apply" title="Ctrl+Enter" aria-disabled={fault !== null || busy} onClick={() => void apply()}>
          Apply
        </Button>
      </div>
    </section>
  );
}
