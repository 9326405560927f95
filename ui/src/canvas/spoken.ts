/** A node in words, for those who hear the graph. */
import type { NodeView } from '../generated/protocol';
import { spokenCounts, totalOf } from '../shared/counts';
import { formatCount, formatMoment } from '../shared/format';
import { STATE_WORDS } from '../shared/states';
import { shownProgress } from './progress';

/** The moment and not the countdown: a name that changes every second is nothing to listen to. */
export function spokenNode(title: string, kind: string, view: NodeView | undefined): string {
  const parts = [title, kind, STATE_WORDS[view?.state ?? 'idle'].toLowerCase()];
  if (!view) return parts.join(', ');
  const progress = shownProgress(view);
  if (view.state === 'waiting_timer' && view.due !== null) parts.push(`until ${formatMoment(view.due)}`);
  if (progress) parts.push(`${formatCount(progress.arrived)} of ${formatCount(progress.expected)} arrived`);
  if (totalOf(view.counts) > 1) parts.push(spokenCounts(view.counts));
  return parts.join(', ');
}
