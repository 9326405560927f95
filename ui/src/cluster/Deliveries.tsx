import type { ReactElement } from 'react';
import type { ClusterView } from '../generated/protocol';
import { asSentence } from '../shared/errorWords';
import { begunAgainWords, deadLetterWords, dialectWords, heardWords } from './words';

/** Where all of this is heard, and what did not go the straight way: messages that came twice, and messages that were put aside or are gone. */
export function Deliveries({ cluster }: { cluster: ClusterView }): ReactElement {
  const aside = deadLetterWords(cluster);
  return (
    <section className="cluster-part" aria-label="Deliveries" data-testid="deliveries">
      <h3>Deliveries</h3>
      <dl className="cluster-facts numbers">
        <dt>Heard</dt>
        <dd>
          {asSentence(dialectWords(cluster.dialect))}: {heardWords(cluster)}
        </dd>
        <dt>Redelivered</dt>
        <dd className={cluster.redelivered > 0 ? 'cluster-some' : ''}>{begunAgainWords(cluster)}</dd>
        {aside !== null && (
          <>
            <dt>Dead letters</dt>
            <dd className={(cluster.dead_letters ?? 0) > 0 ? 'cluster-some' : ''}>{aside}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
