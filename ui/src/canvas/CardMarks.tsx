/** What people have set for a node, and what they hold there, told at its upper edge. */
import type { ReactElement } from 'react';
import { formatCompact, plural } from '../shared/format';
import { Icon, type IconName } from '../shared/icons';
import { type NodeMarks, heldHere } from '../state/controlMarks';
import { staleReason } from '../state/stale';
import { useStore } from '../state/store';

const MOCKS: { [K in NonNullable<NodeMarks['mock']>]: { icon: IconName; word: string } } = {
  output: { icon: 'pin', word: 'Its output is pinned' },
  error: { icon: 'simulate', word: 'It is made to fail' },
  latency: { icon: 'simulate', word: 'It is made to take longer' },
};

export function CardMarks({ marks }: { marks: NodeMarks }): ReactElement | null {
  const { mock, stale, edited, paused } = marks;
  const held = heldHere(marks);
  const why = useStore((state) => (stale === null ? '' : staleReason(state, stale)));
  if (mock === null && stale === null && !paused && held === 0) return null;
  return (
    <>
      {held > 0 && (
        <span className={`card-held-count numbers${marks.heldBefore === 0 ? ' card-held-after' : ''}`} title={heldWords(marks)} data-testid="held-count">
          <Icon name="pause" size={12} />
          {formatCompact(held)}
        </span>
      )}
      <span className="card-marks">
        {edited && <Mark icon="edit" word="Changed by hand" kind="edited" />}
        {paused && held === 0 && <Mark icon="pause" word="This node is paused" kind="paused" />}
        {mock !== null && <Mark icon={MOCKS[mock].icon} word={MOCKS[mock].word} kind={mock === 'output' ? 'pin' : 'mock'} />}
        {stale !== null && <Mark icon="warning" word={why} kind="stale" />}
      </span>
    </>
  );
}

function Mark({ icon, word, kind }: { icon: IconName; word: string; kind: string }): ReactElement {
  return (
    <span className={`card-mark card-mark-${kind}`} title={word} data-mark={kind}>
      <Icon name={icon} size={13} />
    </span>
  );
}

function heldWords({ heldBefore, heldAfter }: NodeMarks): string {
  const parts = [
    heldBefore > 0 ? `${plural(heldBefore, 'message')} held before its work` : '',
    heldAfter > 0 ? `${plural(heldAfter, 'message')} held after its work` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The same for those who hear the graph; empty where nothing is set or held. */
export function spokenMarks(marks: NodeMarks): string {
  const { before, after, mock, stale, paused } = marks;
  const parts = [
    heldWords(marks),
    before ? `${before.state === 'disabled' ? 'disabled ' : ''}breakpoint before it` : '',
    after ? `${after.state === 'disabled' ? 'disabled ' : ''}breakpoint after it` : '',
    paused ? 'paused' : '',
    mock === null ? '' : MOCKS[mock].word.toLowerCase(),
    stale === null ? '' : 'stale',
  ];
  return parts.filter((part) => part !== '').map((part) => `, ${part}`).join('');
}
