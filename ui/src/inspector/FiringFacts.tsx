import type { ReactElement } from 'react';
import type { FiringView } from '../generated/protocol';
import { CopyButton } from '../shared/CopyButton';
import { formatDuration, formatMoment, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { canFork, prepareFork } from '../state/fork';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { Fact } from './Fact';
import { Lineage } from './Lineage';

export function FiringFacts({ firing }: { firing: FiringView }): ReactElement {
  const able = useStore(canFork);
  return (
    <dl className="facts">
      <Fact name="Started">{firing.started_at === null ? '–' : formatMoment(firing.started_at)}</Fact>
      <Fact name="Duration">{firing.duration_ms === null ? '–' : formatDuration(firing.duration_ms)}</Fact>
      <Fact name="Attempt">{firing.attempt}</Fact>
      {firing.key !== '' && (
        <Fact name="Lineage" wide>
          <Lineage frames={firing.lineage} lineageKey={firing.key} />
        </Fact>
      )}
      {able && (firing.start_position ?? firing.end_position) !== undefined && (
        <Fact name="Fork" wide>
          <ForkFrom label="from its start" position={firing.start_position} />
          <ForkFrom label="from its end" position={firing.end_position} />
        </Fact>
      )}
      <Fact name="Message">
        <code title={firing.message_id}>{shortId(firing.message_id)}</code>
        <CopyButton label="Copy message id" text={() => firing.message_id} />
      </Fact>
    </dl>
  );
}

/** At its start what it sees can be changed, at its end what it has put out. */
function ForkFrom({ label, position }: { label: string; position: number | null | undefined }): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? null);
  if (position === null || position === undefined || executionId === null) return null;
  return (
    <button type="button" className="fact-action" data-testid={`fork-${label.replaceAll(' ', '-')}`} onClick={() => prepareFork({ executionId, from: 'event', position })}>
      <Icon name="fork" size={12} /> {label}
    </button>
  );
}
