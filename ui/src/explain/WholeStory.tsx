/** The execution explained: is it stuck, and where did the time go. */
import type { ReactElement } from 'react';
import type { ExplanationView, Leg, Spent, Waiting } from '../generated/protocol';
import { Button } from '../shared/Button';
import { totalOf } from '../shared/counts';
import { formatCount, formatDuration } from '../shared/format';
import { showHighlight } from '../state/highlight';
import { useCalmStore } from '../state/calm';
import { lostNodes } from '../state/lostWaits';
import { phaseOf, shownView } from '../state/selectors';
import { useStore } from '../state/store';
import { Named, Sentences } from './Sentences';
import { Spending, SpendingLegend } from './Spending';
import { waitingNow } from './waitingNow';
import { legTime, outcomeOf, restSentences, slowestSentence, spentTime, waitingSentence, wayOf } from './words';

const MOST_SPENT = 8;

export function WholeStory({ explanation }: { explanation: ExplanationView }): ReactElement | null {
  const view = useCalmStore(shownView);
  const phase = useStore((state) => view && phaseOf(state, view.summary));
  if (!view || !phase) return null;
  const nodes = Object.values(view.nodes);
  const firings = nodes.reduce((sum, { counts }) => sum + totalOf(counts) - counts.queued - counts.skipped, 0);
  const failed = nodes.reduce((sum, { counts }) => sum + counts.failed, 0);
  const running = view.summary.phase === 'running';
  const { critical_path: path, spent } = explanation;
  return (
    <>
      <Sentences of={[outcomeOf(view.summary, phase, firings, failed)]} testId="why-outcome" />
      <Waits told={explanation.waiting} running={running} />
      {path.length > 0 && (
        <section className="why-part" aria-label="Where the time went">
          <div className="why-head">
            <h3>{running ? 'Time spent so far' : 'Where the time went'}</h3>
            <WayButton path={path} />
          </div>
          <Sentences of={[slowestSentence(path)]} testId="why-slowest" />
          <Way path={path} />
          <Spendings spent={spent} />
        </section>
      )}
    </>
  );
}

/** Not calm as the rest: the graph beside it shows the same numbers. */
function Waits({ told, running }: { told: readonly Waiting[]; running: boolean }): ReactElement | null {
  const view = useStore(shownView);
  const lost = useStore(lostNodes);
  const waiting = running ? waitingNow(told, view) : told;
  if (!running && waiting.length === 0) return null;
  const sentences = [...waiting.map(waitingSentence), ...(running ? restSentences(view, lost.split('\n')) : [])];
  return (
    <section className="why-part" aria-label="Is it stuck">
      <h3>{running ? 'What it waits for' : 'Why it did not go on'}</h3>
      {sentences.length === 0 ? <p className="why-note">No join waits for anything.</p> : <Sentences of={sentences} testId="why-waiting" />}
    </section>
  );
}

function WayButton({ path }: { path: readonly Leg[] }): ReactElement {
  const shown = useStore((state) => state.highlight !== null);
  const nodes = wayOf(path);
  return (
    <Button
      icon="route"
      aria-pressed={shown}
      data-testid="show-way"
      onClick={() => showHighlight(shown ? null : { label: 'The way that took longest', nodes })}
    >
      {shown ? 'Let go of it' : 'Show the way'}
    </Button>
  );
}

/** Steps one after the other; long ways show those that matter. */
function Way({ path }: { path: readonly Leg[] }): ReactElement {
  const total = path.reduce((sum, leg) => sum + legTime(leg), 0);
  const longest = Math.max(...path.map(legTime), 1);
  const told = path.length <= 2 * MOST_SPENT ? path : path.toSorted((a, b) => legTime(b) - legTime(a)).slice(0, 2 * MOST_SPENT).toSorted((a, b) => a.position - b.position);
  return (
    <>
      <ol className="why-way" aria-label="The way that took longest" data-testid="why-way">
        {told.map((leg) => (
          <li key={`${leg.position} ${leg.node_id}`}>
            <span className="why-leg">
              <Named nodeId={leg.node_id} />
              {leg.key !== '' && <code className="why-key">{leg.key}</code>}
            </span>
            <Spending of={leg} longest={longest} />
            <span className="why-time numbers">{formatDuration(legTime(leg))}</span>
          </li>
        ))}
      </ol>
      <p className="why-note">
        {path.length > told.length && `${formatCount(path.length - told.length)} shorter steps are not listed. `}
        {formatDuration(total)} in all; what is not on this way could take longer and nobody would notice.
      </p>
    </>
  );
}

/** Every node over all its firings. Together they may be more than the whole: things happen at the same time. */
function Spendings({ spent }: { spent: readonly Spent[] }): ReactElement {
  const told = spent.slice(0, MOST_SPENT);
  const longest = Math.max(...told.map(spentTime), 1);
  return (
    <details className="why-more">
      <summary>Every node over all its firings</summary>
      <SpendingLegend />
      <ol className="why-way" aria-label="What every node has spent">
        {told.map((each) => (
          <li key={each.node_id}>
            <span className="why-leg">
              {each.node_id !== null && <Named nodeId={each.node_id} />}
              {each.firings > 1 && <span className="why-key">{formatCount(each.firings)} ×</span>}
            </span>
            <Spending of={each} longest={longest} />
            <span className="why-time numbers">{formatDuration(spentTime(each))}</span>
          </li>
        ))}
      </ol>
      {spent.length > told.length && <p className="why-note">{formatCount(spent.length - told.length)} more took less.</p>}
    </details>
  );
}
