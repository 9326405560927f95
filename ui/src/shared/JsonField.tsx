/** A JSON value that can be changed, checked while it is written, with a word on what becomes of it. */
import { type CSSProperties, type ReactElement, Suspense, lazy, useState } from 'react';
import { Icon } from './icons';
import { faultOf } from './json/fault';
import './jsonField.css';

const Editor = lazy(() => import('./json/Editor'));

interface Props {
  /** What is there at first; from then on the editor has it. */
  start: string;
  onChange: (text: string) => void;
  label: string;
  /** Said below it while the text is JSON. */
  note: string;
  /** Ctrl+Enter. */
  onApply: () => void;
  /** Escape. */
  onCancel: () => void;
  testId?: string;
}

const FEWEST_LINES = 8;
const MOST_LINES = 20;

export function JsonField({ start, onChange, label, note, onApply, onCancel, testId }: Props): ReactElement {
  const [text, setText] = useState(start);
  const fault = faultOf(text);
  // As high as what it begins with, and no higher while somebody writes: nothing below it moves.
  const [lines] = useState(() => Math.min(Math.max(start.split('\n').length, FEWEST_LINES), MOST_LINES));
  const change = (next: string): void => {
    setText(next);
    onChange(next);
  };
  return (
    <div className="json-field" style={{ '--lines': lines } as CSSProperties} data-testid={testId}>
      <div className="json-field-frame">
        <Suspense fallback={<p className="json-field-note">Loading the editor…</p>}>
          <Editor label={label} text={start} onChange={change} onApply={onApply} onCancel={onCancel} />
        </Suspense>
      </div>
      <p className={fault ? 'json-field-wrong' : 'json-field-note'} role="status" data-testid="json-fault">
        <Icon name={fault ? 'error' : 'check'} size={14} /> {fault ? `Line ${fault.line}, column ${fault.column}: ${fault.message}` : note}
      </p>
    </div>
  );
}
