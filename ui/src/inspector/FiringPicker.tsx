import { type ReactElement, useId } from 'react';
import type { FiringView } from '../generated/protocol';
import { formatCount, formatDuration } from '../shared/format';
import { STATE_WORDS } from '../shared/states';

interface Props {
  /** The latest ones, newest first. */
  firings: FiringView[];
  total: number;
  chosen: FiringView | null;
  onChoose: (messageId: string) => void;
}

export function FiringPicker({ firings, total, chosen, onChoose }: Props): ReactElement {
  const id = useId();
  return (
    <div className="picker">
      <label htmlFor={id}>
        Firing <span className="picker-total">of {formatCount(total)}</span>
      </label>
      <select id={id} value={chosen?.message_id ?? ''} onChange={(event) => onChoose(event.target.value)}>
        {firings.map((firing) => (
          <option key={firing.message_id} value={firing.message_id}>
            {nameOf(firing)}
          </option>
        ))}
      </select>
      {total > firings.length && (
        <p className="picker-more">{formatCount(total - firings.length)} older ones are not listed.</p>
      )}
    </div>
  );
}

function nameOf(firing: FiringView): string {
  const parts = [firing.key === '' ? 'root' : firing.key, STATE_WORDS[firing.state].toLowerCase()];
  if (firing.attempt > 1) parts.push(`attempt ${firing.attempt}`);
  if (firing.duration_ms !== null) parts.push(formatDuration(firing.duration_ms));
  return parts.join(' · ');
}
