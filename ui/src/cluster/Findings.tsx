import type { ReactElement } from 'react';
import type { ClusterView, Finding } from '../generated/protocol';
import { wholeSentence } from '../shared/errorWords';
import { formatCount, formatMoment, formatRelative, plural, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';
import { useNow } from '../shared/useNow';
import { openExecution } from '../state/actions';
import { patchyExecutions, titleOfExecution } from '../state/selectors';
import { selectNode, showBottom, useStore } from '../state/store';
import { RULE_WORDS } from './words';

export function Findings({ findings, unlisted, troubles }: Pick<ClusterView, 'findings' | 'unlisted' | 'troubles'>): ReactElement {
  // The keyboard comes in where something leads somewhere.
  const stop = findings.findIndex(leads);
  return (
    <section className="cluster-part" aria-label="Found wrong">
      <h3>Found wrong</h3>
      {findings.length === 0 && <Nothing hidden={troubles.length > 0} />}
      <ul data-testid="findings" onKeyDown={moveFocus}>
        {findings.map((finding, at) => (
          <li key={identityOf(finding)} className="finding">
            <Row finding={finding} tabStop={at === stop} />
            {findings[at + 1]?.rule !== finding.rule && <More count={unlisted[finding.rule] ?? 0} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Why nothing is listed. What nobody heard may be what is missing, so an execution with a gap is not called stuck. */
function Nothing({ hidden }: { hidden: boolean }): ReactElement {
  const patchy = useStore(patchyExecutions);
  if (hidden) return <p className="cluster-none">What is stuck cannot be seen at the moment.</p>;
  if (patchy > 0) {
    return (
      <p className="cluster-none cluster-patchy">
        <Icon name="warning" /> Nothing was found wrong. Not everything was heard of {plural(patchy, 'execution')} under way: whether{' '}
        {patchy === 1 ? 'it is' : 'they are'} stuck can be told only in part.
      </p>
    );
  }
  return (
    <p className="cluster-none">
      <Icon name="check" /> Nothing is stuck as far as can be seen. Joins that cannot open, overdue timers, queues without a consumer and the
      like appear here, with what to do.
    </p>
  );
}

/** Of what is wrong in very many places the first are listed, so that they hide nothing else. */
function More({ count }: { count: number }): ReactElement | null {
  if (count === 0) return null;
  return <p className="cluster-dim finding-more">and {formatCount(count)} more of this kind</p>;
}

/** Very many timers are told together, and the board has them one by one. */
function leads({ rule, execution_id }: Finding): boolean {
  return Boolean(execution_id) || rule === 'overdue_timer';
}

function Row({ finding, tabStop }: { finding: Finding; tabStop: boolean }): ReactElement {
  const { rule, since, execution_id, sentence, advice, evidence } = finding;
  const head = (
    <>
      <span className="finding-place">
        <span className="finding-rule">
          <Icon name="warning" size={14} />
          {RULE_WORDS[rule]}
        </span>
        {execution_id && <Execution id={execution_id} />}
      </span>
      <span className="finding-sentence">{wholeSentence(sentence)}</span>
      <Since since={since} />
    </>
  );
  return (
    <>
      {leads(finding) ? (
        <button type="button" data-roving tabIndex={tabStop ? 0 : -1} className="row finding-head" onClick={() => void show(finding)}>
          {head}
        </button>
      ) : (
        <div className="finding-head finding-still">{head}</div>
      )}
      <p className="finding-advice">{wholeSentence(advice)}</p>
      {evidence.length > 0 && (
        <details className="finding-evidence">
          <summary>Evidence</summary>
          <ul>
            {evidence.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Which one it is about: sentences name nodes, and many executions have the same. */
function Execution({ id }: { id: string }): ReactElement {
  const title = useStore((state) => titleOfExecution(state, id));
  return (
    <span className="cluster-dim finding-of" title={id}>
      {title !== undefined && `${title} · `}
      <code>{shortId(id)}</code>
    </span>
  );
}

function Since({ since }: { since: number }): ReactElement {
  const now = useNow();
  return (
    <time className="cluster-dim numbers" title={formatMoment(since)}>
      {formatRelative(since, now)}
    </time>
  );
}

/** What is open or has the focus stays so, although sentences change with time. */
function identityOf({ rule, execution_id, node_id, key, queue }: Finding): string {
  return JSON.stringify([rule, execution_id ?? null, node_id ?? null, key ?? null, queue ?? null]);
}

async function show({ execution_id, node_id }: Finding): Promise<void> {
  if (!execution_id) {
    showBottom('waits');
    return;
  }
  await openExecution(execution_id);
  if (node_id) selectNode(node_id);
}
