/** While a cluster is attached: which one, in its own colour, and that it is only looked at. */
import type { ReactElement } from 'react';
import { asSentence } from '../shared/errorWords';
import { Button } from '../shared/Button';
import { colourOf } from '../shared/clusterColours';
import { formatCount, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { detach, keepObserved } from '../state/actions';
import { showBottom, useStore } from '../state/store';
import { dialectWords, heardWords } from './words';
import './cluster.css';

export function LiveBanner(): ReactElement | null {
  const cluster = useStore((state) => state.cluster);
  if (!cluster) return null;
  const { connection, dialect, findings, gaps, recording, troubles } = cluster;
  const [trouble] = troubles;
  return (
    <section className={`live-banner cluster-${colourOf(connection.colour)}`} aria-label="Attached cluster" data-testid="live-banner">
      <span className="live-word">
        <Icon name="eye" />
        LIVE
      </span>
      <strong className="live-name" title={connection.name}>
        {connection.name}
      </strong>
      <span className="live-fact">read only</span>
      <span className="live-fact live-dialect">{dialectWords(dialect)}</span>
      <span className="live-fact numbers" title="Where this comes from: the log of the workers, or copies of their messages; and what this machine was too slow for" data-testid="live-heard">
        {heardWords(cluster)}
      </span>
      {gaps.length > 0 && (
        <button type="button" className="live-link" onClick={() => showBottom('cluster')}>
          <Icon name="warning" size={14} />
          {plural(gaps.length, 'gap')}
        </button>
      )}
      {trouble && (
        <span className="live-trouble" role="status" title={trouble.hint}>
          <Icon name="warning" size={14} />
          {asSentence(trouble.message)}
        </span>
      )}
      <span className="live-space" />
      {findings.length > 0 && (
        <button type="button" className="live-link" data-testid="live-findings" onClick={() => showBottom('cluster')}>
          <Icon name="warning" size={14} />
          {formatCount(findings.length)} found wrong
        </button>
      )}
      <Button
        aria-pressed={recording}
        className="live-record"
        data-testid="live-record"
        title={recording ? 'What is seen stays here after detaching' : 'What is seen is gone after detaching'}
        onClick={() => void keepObserved(!recording)}
      >
        <span className="live-dot" aria-hidden="true" />
        {recording ? 'Recording' : 'Record'}
      </Button>
      <Button icon="close" data-testid="live-detach" onClick={() => void detach()}>
        Detach
      </Button>
    </section>
  );
}
