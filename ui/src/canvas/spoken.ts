/** A node in words, for those who hear the graph. */
import type { NodeView } from '../generated/protocol';
import { spokenCounts, totalOf } from '../shared/counts';
import { formatCount, formatMoment } from '../shared/format';
import { shownState } from '../shared/shownState';
import type { Lost } from '../state/lostWaits';
import { LOST_WORD } from '../shared/LostLabel';
import { STATE_WORDS } from '../shared/states';
import { shownProgress } from './progress';

/** The moment and not the countdown: a name that changes every second is nothing to listen to. */
export function spokenNode(title: string, kind: string, view: NodeView | undefined, lost: Lost = ''): string {
  const state = shownState(view);
  const parts = [title, kind, (lost === 'all' ? LOST_WORD : STATE_WORDS[state]).toLowerCase()];
  if (!view) return parts.join(', ');
  const progress = shownProgress(view);
  const many = totalOf(view.counts) > 1;
  if (state === 'waiting_timer' && view.due !== null && lost === '') parts.push(`until ${formatMoment(view.due)}`);
  if (state === 'retrying' && view.due !== null) parts.push(`at ${formatMoment(view.due)}`);
  if (state === 'retrying' && !many) parts.push(`attempt ${view.attempts + 1}`);
  if (progress) parts.push(`${formatCount(progress.arrived)} of ${formatCount(progress.expected)} arrived`);
  if (lost !== '' && lost !== 'all') parts.push(`${lost} lost`);
  if (many) parts.push(spokenCounts(view));
  if (view.retrying > 0 && view.error) parts.push(`because ${view.error.message}`);
  return parts.join(', ');
}
