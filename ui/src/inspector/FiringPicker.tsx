import { type ReactElement, useId } from 'react';
import type { FiringView } from '../generated/protocol';
import { formatCount, formatDuration } from '../shared/format';
import { type ShownState, shownFiringState } from '../shared/shownState';
import { STATE_WORDS } from '../shared/states';

interface Props {
  /** The latest ones, newest first. */
  firings: FiringView[];
  total: number;
  chosen: FiringView | null;
  onChoose: (messageId: string) => void;
}

/** Among hundreds one looks for the odd ones, so they come first; then for an item, so items are in their order. */
const ORDER: ShownState[] = ['failed', 'retrying', 'running', 'waiting_timer', 'waiting_barrier', 'queued', 'success', 'skipped', 'idle'];

export function FiringPicker({ firings, total, chosen, onChoose }: Props): ReactElement {
  const id = useId();
  const sorted = firings.toSorted(byItem);
  const groups = ORDER.map((state) => ({ state, members: sorted.filter((firing) => shownFiringState(firing) === state) }));
  return (
    <div className="picker">
      <label htmlFor={id}>
        Firing <span className="picker-total numbers">of {formatCount(total)}</span>
      </label>
      <select id={id} value={chosen?.message_id ?? ''} onChange={(event) => onChoose(event.target.value)}>
        {groups
          .filter(({ members }) => members.length > 0)
          .map(({ state, members }) => (
            <optgroup key={state} label={`${STATE_WORDS[state]} (${formatCount(members.length)})`}>
              {members.map((firing) => (
                <option key={firing.message_id} value={firing.message_id}>
                  {nameOf(firing)}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
      {total > firings.length && (
        <p className="picker-more">{formatCount(total - firings.length)} older ones are not listed.</p>
      )}
    </div>
  );
}

/** The closed list shows this and no heading, so the state is part of it. */
export function nameOf(firing: FiringView): string {
  const parts = [firing.key === '' ? 'root' : firing.key, STATE_WORDS[shownFiringState(firing)].toLowerCase()];
  if (firing.attempt > 1) parts.push(`attempt ${firing.attempt}`);
  if (firing.duration_ms !== null) parts.push(formatDuration(firing.duration_ms));
  return parts.join(' · ');
}

/** Outermost split first. As text, item 10 would come before item 2. */
function byItem(a: FiringView, b: FiringView): number {
  const depth = Math.min(a.lineage.length, b.lineage.length);
  for (let level = 0; level < depth; level += 1) {
    const apart = (a.lineage[level]?.item_index ?? 0) - (b.lineage[level]?.item_index ?? 0);
    if (apart !== 0) return apart;
  }
  return a.lineage.length - b.lineage.length;
}
