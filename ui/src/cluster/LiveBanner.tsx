/** While a cluster is attached: which one, in its own colour, and that it is only looked at. */
import type { ReactElement } from 'react';
import type { Problem } from '../generated/protocol';
import { asSentence, wholeSentence } from '../shared/errorWords';
import { Button } from '../shared/Button';
import { colourOf } from '../shared/clusterColours';
import { formatCount, formatMoment, formatSeconds, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { unseenSince } from '../shared/left';
import { detach, keepObserved } from '../state/actions';
import { showBottom, useStore } from '../state/store';
import { dialectWords, foundTotal, heardWords } from './words';
import './cluster.css';

export function LiveBanner(): ReactElement | null {
  const cluster = useStore((state) => state.cluster);
  const answers = useStore((state) => state.connection.type === 'live');
  if (!cluster) return null;
  const { connection, dialect, ended, findings, gaps, recording } = cluster;
  const unseen = unseenSince(cluster);
  return (
    <section className={`live-banner cluster-${colourOf(connection.colour)}`} aria-label="Attached cluster" data-testid="live-banner">
      <span className={unseen === null ? 'live-word' : 'live-word live-ended'} data-testid="live-word">
        <Icon name={unseen === null ? 'eye' : 'warning'} />
        {unseen === null ? 'LIVE' : <time title={formatMoment(unseen)}>NOT LIVE since {formatSeconds(unseen)}</time>}
      </span>
      <strong className="live-name" title={connection.name}>
        {connection.name}
      </strong>
      <span className="live-fact">read only</span>
      <span className="live-fact live-dialect">{dialectWords(dialect)}</span>
      <span className="live-fact live-source numbers" title="Where this comes from: the log of the workers, or copies of their messages; and what this machine was too slow for" data-testid="live-heard">
        {heardWords(cluster)}
      </span>
      {gaps.length > 0 && (
        <button type="button" className="live-link" onClick={() => showBottom('cluster')}>
          <Icon name="warning" size={14} />
          {plural(gaps.length, 'gap')}
        </button>
      )}
      <Troubles troubles={cluster.troubles} />
      <span className="live-space" />
      {findings.length > 0 && (
        <button type="button" className="live-link" data-testid="live-findings" onClick={() => showBottom('cluster')}>
          <Icon name="warning" size={14} />
          {formatCount(foundTotal(cluster))} found wrong
        </button>
      )}
      {answers && ended === null && (
        <Button
          aria-pressed={recording}
          className="live-record"
          data-testid="live-record"
          title={recording ? 'What is seen stays here after detaching. Switched off, what was recorded stays, and what begins later does not' : 'Keeps what was seen until now, and what comes'}
          onClick={() => void keepObserved(!recording)}
        >
          <span className="live-dot" aria-hidden="true" />
          {recording ? 'Recording' : 'Record'}
        </Button>
      )}
      {answers && (
        <Button icon="close" data-testid="live-detach" title={recording ? undefined : 'What was seen and not recorded is gone then'} onClick={() => void detach()}>
          Detach
        </Button>
      )}
    </section>
  );
}

/** The first in words; all of them, and what to do, stand in the panel. */
function Troubles({ troubles: [first, ...more] }: { troubles: Problem[] }): ReactElement {
  return (
    <span role="status" className="live-troubles">
      {first && (
        <button type="button" className="live-link live-trouble" data-testid="live-trouble" title={`${wholeSentence(first.message)} ${wholeSentence(first.hint)}`} onClick={() => showBottom('cluster')}>
          <Icon name="warning" size={14} />
          <span className="live-sentence">{asSentence(first.message)}</span>
          {more.length > 0 && <span className="live-more">+{more.length} more</span>}
        </button>
      )}
    </span>
  );
}
