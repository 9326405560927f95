/** What a join waits for, in one sentence. */
import type { BarrierPlace, Whereabouts } from '../generated/protocol';
import type { Lost } from '../state/lostWaits';
import { formatCount, formatSeconds, plural } from './format';

export interface Words {
  titleOf: (nodeId: string) => string;
  /** The execution is over: what is missing never came. */
  ended: boolean;
  /** Whether of what waits at a node all or some is lost; none where absent. */
  lostAt?: (nodeId: string) => Lost;
}

export function verdictOf(place: BarrierPlace, words: Words): string {
  const missing = place.expected - place.arrived;
  if (missing <= 0) return 'Everything has arrived.';
  const items = place.missing.some((part) => part.type === 'item');
  const what = items ? plural(place.expected, 'item') : plural(place.expected, 'branch', 'branches');
  const where = place.whereabouts.map((each) => phrase(each, words)).join(', ');
  const lead = words.ended ? 'The execution ended before the last' : 'Waits for';
  return words.ended
    ? `${lead} ${formatCount(missing)} of ${what} arrived: ${where}.`
    : `${lead} ${formatCount(missing)} of ${what}: ${where}.`;
}

function phrase({ node_id, state, retrying, count, due }: Whereabouts, { titleOf, lostAt }: Words): string {
  const many = formatCount(count);
  const at = node_id === null ? '' : ` at “${titleOf(node_id)}”`;
  const when = due === null ? '' : ` ${count > 1 ? 'the first at' : 'until'} ${formatSeconds(due)}`;
  const lost = node_id === null ? '' : (lostAt?.(node_id) ?? '');
  const s = count === 1 ? 's' : '';
  if (retrying) return `${many} failed${at} and ${count === 1 ? 'is' : 'are'} tried again${due === null ? '' : ` at ${formatSeconds(due)}`}`;
  switch (state) {
    case 'running':
      return `${many} run${s}${at}`;
    case 'waiting_timer':
      if (lost === 'all') return `${many} ${count === 1 ? 'is' : 'are'} lost${at}`;
      if (lost !== '') return `${many} rest${s}${at}, and ${lost} there ${lost === '1' ? 'is' : 'are'} lost`;
      return `${many} rest${s}${at}${when}`;
    case 'queued':
      return node_id === null ? `${many} ${count === 1 ? 'has' : 'have'} not begun` : `${many} wait${s} for a worker${at}`;
    case 'waiting_barrier':
      return `${many} gather${s}${at}`;
    case 'idle':
    case 'success':
    case 'failed':
    case 'skipped':
      return `${many} ${count === 1 ? 'has' : 'have'} nothing under way that could bring ${count === 1 ? 'it' : 'them'}`;
  }
}
