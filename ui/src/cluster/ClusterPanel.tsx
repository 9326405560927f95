/** The attached cluster as a whole: what is wrong there first, then what it is made of. */
import type { ReactElement, ReactNode } from 'react';
import type { ClusterView } from '../generated/protocol';
import { asSentence, wholeSentence } from '../shared/errorWords';
import { EmptyState } from '../shared/EmptyState';
import { plural } from '../shared/format';
import { gapWords } from '../shared/gapWords';
import { Icon } from '../shared/icons';
import { Ahead } from '../shared/useNow';
import { useStore } from '../state/store';
import { Deliveries } from './Deliveries';
import { Findings } from './Findings';
import { Queues } from './Queues';
import { RedisMemory } from './RedisMemory';
import { Workers } from './Workers';
import './cluster.css';

export function ClusterPanel(): ReactElement {
  const cluster = useStore((state) => state.cluster);
  if (!cluster) {
    return (
      <EmptyState icon="eye" title="No cluster is attached">
        Attach to one, and what is stuck there, its queues, workers and memory appear here.
      </EmptyState>
    );
  }
  return (
    <Ahead value={cluster.ahead}>
      <Parts cluster={cluster} />
    </Ahead>
  );
}

function Parts({ cluster }: { cluster: ClusterView }): ReactElement {
  const { capabilities, findings, forgotten, gaps, passed_over, queues, queues_as_of } = cluster;
  const { redis, redis_as_of, troubles, unlisted, unreadable } = cluster;
  return (
    <div role="region" aria-label="Cluster" className="cluster-panel" data-testid="cluster-panel" tabIndex={0}>
      <div className="cluster-columns">
        <div className="cluster-column">
          {troubles.map(({ message, hint }) => (
            <p key={message} className="cluster-trouble" role="status">
              <Icon name="warning" />
              <span>
                {wholeSentence(message)} <span className="cluster-dim">{wholeSentence(hint)}</span>
              </span>
            </p>
          ))}
          <Findings findings={findings} unlisted={unlisted} troubles={troubles} />
          <Part title="Gaps" shown={gaps.length > 0}>
            <ul>
              {gaps.toReversed().map((gap) => (
                <li key={`${gap.from} ${gap.why}`} className="cluster-gap numbers">
                  {asSentence(gapWords(gap))}.
                </li>
              ))}
            </ul>
          </Part>
          {passed_over > 0 && <p className="cluster-dim cluster-line">{plural(passed_over, 'execution')} there are not followed: there are too many, or they were over too soon.</p>}
          {unreadable > 0 && <p className="cluster-dim cluster-line">{plural(unreadable, 'execution')} there are not followed: what is kept of them cannot be read.</p>}
          {forgotten > 0 && (
            <p className="cluster-dim cluster-line" data-testid="forgotten">
              {plural(forgotten, 'execution')} that had ended {forgotten === 1 ? 'is' : 'are'} no longer kept here, the oldest first. Record keeps all that comes.
            </p>
          )}
        </div>
        <div className="cluster-column">
          <Queues queues={queues} findings={findings} asOf={queues_as_of} />
          <Deliveries cluster={cluster} />
          <Workers cluster={cluster} />
          <RedisMemory redis={redis} asOf={redis_as_of} />
          <details className="cluster-part cluster-sheet">
            <summary>Everything this attachment can say to the cluster</summary>
            <ul data-testid="capabilities">
              {capabilities.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          </details>
        </div>
      </div>
    </div>
  );
}

function Part({ title, shown, children }: { title: string; shown: boolean; children: ReactNode }): ReactElement | null {
  if (!shown) return null;
  return (
    <section className="cluster-part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
