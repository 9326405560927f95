/** A JSON value as text that can be changed, checked while it is written. */
import { type ReactElement, useId } from 'react';
import './editor.css';

export type ParsedJson = { type: 'value'; value: unknown } | { type: 'wrong'; message: string };

export function parseJson(text: string): ParsedJson {
  try {
    return { type: 'value', value: JSON.parse(text) };
  } catch (thrown) {
    return { type: 'wrong', message: thrown instanceof Error ? thrown.message : 'This is not JSON.' };
  }
}

interface Props {
  text: string;
  onChange: (text: string) => void;
  label: string;
  /** Said below it while the text is JSON. */
  note: string;
  testId?: string;
}

const FEWEST_ROWS = 6;
const MOST_ROWS = 16;

export function JsonEditor({ text, onChange, label, note, testId }: Props): ReactElement {
  const id = useId();
  const parsed = parseJson(text);
  return (
    <div className="json-text">
      <textarea
        spellCheck={false}
        rows={Math.min(Math.max(text.split('\n').length, FEWEST_ROWS), MOST_ROWS)}
        value={text}
        aria-label={label}
        aria-invalid={parsed.type === 'wrong'}
        aria-describedby={`${id}-note`}
        data-testid={testId}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-note`} className={parsed.type === 'wrong' ? 'json-text-wrong' : 'json-text-note'} role="status">
        {parsed.type === 'wrong' ? `Not JSON: ${parsed.message}` : note}
      </p>
    </div>
  );
}
