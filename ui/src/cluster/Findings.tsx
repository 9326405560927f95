import type { ReactElement } from 'react';
import type { Finding } from '../generated/protocol';
import { asSentence } from '../shared/errorWords';
import { formatMoment, formatRelative, shortId } from '../shared/format';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';
import { useNow } from '../shared/useNow';
import { openExecution } from '../state/actions';
import { selectNode, useStore } from '../state/store';
import { RULE_WORDS } from './words';

export function Findings({ findings }: { findings: Finding[] }): ReactElement {
  return (
    <section className="cluster-part" aria-label="Found wrong">
      <h3>Found wrong</h3>
      {findings.length === 0 && (
        <p className="cluster-none">
          <Icon name="check" /> Nothing is stuck as far as can be seen. Joins that cannot open, overdue timers, queues without a consumer and
          the like appear here, with what to do.
        </p>
      )}
      <ul data-testid="findings" onKeyDown={moveFocus}>
        {findings.map((finding, at) => (
          <li key={identityOf(finding)} className="finding">
            <Row finding={finding} tabStop={at === 0} />
          </li>
        ))}
      </ul>
    </section>
  );
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
      <span className="finding-sentence">{whole(sentence)}</span>
      <Since since={since} />
    </>
  );
  return (
    <>
      {execution_id ? (
        <button type="button" data-roving tabIndex={tabStop ? 0 : -1} className="row finding-head" onClick={() => void show(finding)}>
          {head}
        </button>
      ) : (
        <div className="finding-head finding-still">{head}</div>
      )}
      <p className="finding-advice">{whole(advice)}</p>
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
  const title = useStore((state) => state.executions.find((each) => each.execution_id === id)?.title);
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
  if (!execution_id) return;
  await openExecution(execution_id);
  if (node_id) selectNode(node_id);
}

/** Clauses become sentences. What begins with the name of a queue or a key keeps its small letter. */
function whole(text: string): string {
  const begun = /^[a-z]+[ ,]/.test(text) ? asSentence(text) : text;
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
