import type { ReactElement } from 'react';
import type { FiringView } from '../generated/protocol';
import { CopyButton } from '../shared/CopyButton';
import { formatDuration, formatMoment, shortId } from '../shared/format';
import { Fact } from './Fact';
import { Lineage } from './Lineage';

export function FiringFacts({ firing }: { firing: FiringView }): ReactElement {
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
      <Fact name="Message">
        <code title={firing.message_id}>{shortId(firing.message_id)}</code>
        <CopyButton label="Copy message id" text={() => firing.message_id} />
      </Fact>
    </dl>
  );
}
