/** Which two executions are held against each other, and what came of it in numbers. */
import type { ReactElement } from 'react';
import type { CompareCounts, ComparisonView, ExecutionSummary } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { formatCount, formatDuration, formatMoment, formatSeconds, shortId } from '../shared/format';
import { shownPhase } from '../shared/phase';
import { PhaseLabel } from '../shared/states';
import { type ShownVerdict, Side, VERDICT_WORDS, VerdictLabel } from '../shared/verdicts';
import { chooseDifference, stopComparing, swapCompared } from '../state/compare';
import { useStore } from '../state/store';
import './compare.css';

export function CompareBar(): ReactElement | null {
  const compared = useStore((state) => state.compared);
  const a = useStore((state) => state.executions.find((each) => each.execution_id === state.compared?.a) ?? null);
  const b = useStore((state) => state.executions.find((each) => each.execution_id === state.compared?.b) ?? null);
  if (!compared) return null;
  const { answer } = compared;
  const alike = a?.title === b?.title;
  return (
    <section className="compare-bar" aria-label="Comparison" data-testid="compare-bar">
      <div className="compare-sides">
        <Execution side="a" id={compared.a} summary={a} alike={alike} />
        <IconButton icon="swap" label="Swap A and B" data-testid="compare-swap" onClick={swapCompared} />
        <Execution side="b" id={compared.b} summary={b} alike={alike} />
        <span className="compare-gap" />
        {answer && answer.differences.length > 0 && (
          <Button icon="fork" look="primary" data-testid="first-divergence" onClick={() => chooseDifference(0)}>
            First divergence
          </Button>
        )}
        <IconButton icon="close" label="Stop comparing" data-testid="compare-close" onClick={stopComparing} />
      </div>
      <div className="compare-counts" role="status">
        {answer ? <Counts answer={answer} /> : <span className="compare-note">Comparing…</span>}
      </div>
    </section>
  );
}

interface SideProps {
  side: 'a' | 'b';
  id: string;
  summary: ExecutionSummary | null;
  /** Both are called the same, which stands above. */
  alike: boolean;
}

function Execution({ side, id, summary, alike }: SideProps): ReactElement {
  const phase = useStore((state) => summary && shownPhase(summary, state.cluster));
  return (
    <span className={`compare-side compare-side-${side}`} title={summary ? `${summary.title}\n${formatMoment(summary.started_at)}\n${id}` : id}>
      <Side side={side} />
      <span className="visually-hidden">{side.toUpperCase()}:</span>
      {summary && !alike && <span className="compare-title">{summary.title}</span>}
      {phase && <PhaseLabel phase={phase} />}
      {summary && (
        <>
          <span className="compare-when numbers">{summary.ended_at === null ? '' : formatDuration(summary.ended_at - summary.started_at)}</span>
          <span className="compare-when compare-clock numbers">{formatSeconds(summary.started_at)}</span>
        </>
      )}
      <code className="compare-id">{shortId(id)}</code>
    </span>
  );
}

const ORDER: readonly (keyof CompareCounts & ShownVerdict)[] = ['changed', 'only_a', 'only_b', 'slower', 'equal'];

function Counts({ answer }: { answer: ComparisonView }): ReactElement {
  const { total, definition_changed, input } = answer;
  return (
    <>
      {ORDER.filter((verdict) => total[verdict] > 0).map((verdict) => (
        <span key={verdict} className="compare-count" title={`${formatCount(total[verdict])} firings: ${VERDICT_WORDS[verdict].toLowerCase()}`}>
          <VerdictLabel verdict={verdict} /> <strong className="numbers">{formatCount(total[verdict])}</strong>
        </span>
      ))}
      {definition_changed && <span className="compare-note">They ran different versions of the workflow.</span>}
      {input.length > 0 && <Inputs paths={input.map(({ path }) => path)} />}
    </>
  );
}

/** Named until the line is full; all of them are told to who asks. */
function Inputs({ paths }: { paths: readonly string[] }): ReactElement {
  return (
    <span className="compare-note compare-inputs" title={paths.join('\n')}>
      Different inputs: {paths.join(', ')}
    </span>
  );
}
