import type { ReactElement } from 'react';

const LONGEST = 52;

interface Props {
  sample: string;
  recent: readonly string[];
  text: string;
  onChoose: (text: string) => void;
}

/** The sample of the workflow and the inputs it was run with by hand. */
export function RecentInputs({ sample, recent, text, onChoose }: Props): ReactElement {
  const known = text === sample || recent.includes(text);
  return (
    <label className="input-recent">
      <span>Start from</span>
      <select value={known ? text : ''} data-testid="recent-inputs" onChange={(event) => onChoose(event.target.value)}>
        {!known && (
          <option value="" disabled>
            what is written below
          </option>
        )}
        <option value={sample}>Sample of the workflow</option>
        <optgroup label="Used before, the last first">
          {recent.map((each) => (
            <option key={each} value={each}>
              {shortened(each)}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  );
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
