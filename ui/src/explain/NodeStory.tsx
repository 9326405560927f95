/** One node explained: why it went this way, what it used, or why it did not run. */
import type { ReactElement } from 'react';
import type { Condition, ExplanationView, FiringStory, NodeStory as Told, Used } from '../generated/protocol';
import { StateIcon } from '../shared/states';
import { kindOf, rowsOf } from '../shared/json/rows';
import { placeOf } from '../shared/json/path';
import { shownDefinition, shownSummary, shownView } from '../state/selectors';
import { travelTo } from '../state/past';
import { useStore } from '../state/store';
import { Named, Sentences } from './Sentences';
import { useExplanation } from './useExplanation';
import { storyOf } from './words';

const CLOSED = new Map([[placeOf([]), false]]);

export function NodeStory({ explanation }: { explanation: ExplanationView }): ReactElement | null {
  const definition = useStore(shownDefinition);
  // What has ended waits for nothing that could still come.
  const view = useStore((state) => (shownSummary(state)?.phase === 'running' ? shownView(state) : null));
  const { node } = explanation;
  if (!node) return null;
  const sentences = storyOf(node, explanation, definition, view);
  const decided = decisionOf(node);
  return (
    <>
      <Sentences of={sentences} testId="why-node" />
      {sentences.length === 0 && (node.firing?.conditions ?? []).length === 0 && (
        <p className="why-note">It ran as soon as it was its turn, and there was only one way to go on.</p>
      )}
      {node.firing && <Grounds firing={node.firing} />}
      {decided && <Decision by={decided.by} at={decided.key} />}
    </>
  );
}

/** What was asked, and with which values. `decider` is who asked, where that was not the node itself. */
function Grounds({ firing: { conditions, used }, decider }: { firing: FiringStory; decider?: string }): ReactElement {
  const hidden = useStore((state) => state.preferences.presenter);
  return (
    <>
      {conditions.length > 0 && (
        <section className="why-part" aria-label="Conditions" data-testid={decider === undefined ? undefined : 'why-decision'}>
          {decider === undefined ? (
            <h3>What was asked</h3>
          ) : (
            <h3 className="why-decider">
              What was asked in <Named nodeId={decider} />
            </h3>
          )}
          <ul className="why-conditions">
            {conditions.map((condition, index) => (
              <li key={index}>
                <Asked condition={condition} hidden={hidden} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {used.length > 0 && !hidden && (
        <section className="why-part" aria-label="Values it used">
          <h3>With these values</h3>
          <ul className="why-used">
            {used.map((each, index) => (
              <li key={index}>
                <UsedValue used={each} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Of a node that never ran: who has decided that, and for which item. */
function decisionOf({ firing, not_run }: Told): { by: string; key: string } | null {
  const [first] = not_run;
  return firing === null && first !== undefined && first.decided_by !== null ? { by: first.decided_by, key: first.key } : null;
}

/** The grounds of somebody else's choice, so that nobody has to go there to understand it. */
function Decision({ by, at }: { by: string; at: string }): ReactElement | null {
  const executionId = useStore((state) => shownSummary(state)?.execution_id ?? '');
  const explained = useExplanation(executionId, by, at);
  const firing = explained.type === 'known' ? explained.explanation.node?.firing : null;
  return firing ? <Grounds firing={firing} decider={by} /> : null;
}

function Asked({ condition: { written, resolved, held }, hidden }: { condition: Condition; hidden: boolean }): ReactElement {
  const state = held === null ? 'skipped' : held ? 'success' : 'failed';
  const words = held === null ? 'Not looked at' : held ? 'True' : 'False';
  return (
    <div className={`why-condition why-held-${held === null ? 'not' : String(held)}`}>
      <code className="why-written">{textOf(written)}</code>
      {/* A condition that was worked out to true or false says so below. */}
      {!hidden && resolved !== null && typeof resolved !== 'boolean' && textOf(resolved) !== textOf(written) && <code className="why-resolved">{textOf(resolved)}</code>}
      <span className={`state-label state-${state}`}>
        <StateIcon state={state} />
        <span>{words}</span>
      </span>
    </div>
  );
}

function UsedValue({ used: { reference, parameter, value, node_id, position } }: { used: Used }): ReactElement {
  const [row] = rowsOf(value, CLOSED);
  return (
    <>
      <code className="why-reference">{reference}</code>
      <code className={`why-value json-${kindOf(value)}`}>{value === null ? 'nothing' : row?.text}</code>
      <span className="why-from">
        in {parameter}
        {node_id !== null && (
          <>
            , from <Named nodeId={node_id} end={position === null ? '' : ','} />
          </>
        )}
        {position !== null && (node_id === null ? ', ' : ' ')}
        {position !== null && (
          <button type="button" className="why-event" title="Show the moment it was made" onClick={() => travelTo({ type: 'position', data: position })}>
            event {position}
          </button>
        )}
      </span>
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
