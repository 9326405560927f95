/** The inspector when no node is selected: the execution or the workflow as a whole. */
import type { ReactElement, ReactNode } from 'react';
import type { ExecutionView, WorkflowEntry } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { CopyButton } from '../shared/CopyButton';
import { EmptyState } from '../shared/EmptyState';
import { formatDuration, formatMoment, plural, shortId } from '../shared/format';
import { Heading } from '../shared/Heading';
import { Icon } from '../shared/icons';
import { LOST_WORD, LostLabel } from '../shared/LostLabel';
import { ObservedMark } from '../shared/ObservedMark';
import type { ShownState } from '../shared/shownState';
import { PhaseLabel, StateLabel } from '../shared/states';
import { editorOf } from '../state/actions';
import { useCalmStore } from '../state/calm';
import { lostNodes } from '../state/lostWaits';
import { phaseOf, shownEntry, shownView, stateCounts, wrongWith } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { ErrorPane } from './ErrorPane';
import { Json } from './Json';

interface Props {
  why?: ReactNode;
  family?: ReactNode;
}

export function Overview({ why, family }: Props): ReactElement {
  // Nobody reads a tally sixty times a second.
  const view = useCalmStore(shownView);
  const entry = useStore(shownEntry);
  const open = useStore((state) => state.open.type);
  if (view) return <ExecutionOverview view={view} why={why} family={family} />;
  if (entry && open === 'workflow') return <WorkflowOverview entry={entry} />;
  return (
    <EmptyState icon="inspector" title="Nothing selected">
      Select a node to see its parameters, input and output.
    </EmptyState>
  );
}

const ORDER: ShownState[] = ['failed', 'retrying', 'running', 'waiting_timer', 'waiting_barrier', 'queued', 'success', 'skipped', 'idle'];

function ExecutionOverview({ view, why, family }: Props & { view: ExecutionView }): ReactElement {
  const { summary } = view;
  const phase = useStore((state) => phaseOf(state, summary));
  // Of a moment that is over nobody knew it.
  const wrong = useStore((state) => (state.past === null ? (wrongWith(state).get(summary.execution_id) ?? '') : ''));
  const lost = useStore(lostNodes);
  const lostCount = lost === '' ? 0 : lost.split('\n').length;
  const states = stateCounts(view);
  const counts = { ...states, waiting_timer: Math.max(0, states.waiting_timer - lostCount) };
  return (
    <>
      <Heading title={summary.title} about="Execution" aside={<PhaseLabel phase={phase} />} />
      <dl className="facts">
        <div className="fact">
          <dt>Started</dt>
          <dd className="numbers">{formatMoment(summary.started_at)}</dd>
        </div>
        <div className="fact">
          <dt>Duration</dt>
          <dd className="numbers">{summary.ended_at === null ? '–' : formatDuration(summary.ended_at - summary.started_at)}</dd>
        </div>
        <div className="fact">
          <dt>Id</dt>
          <dd>
            <code title={summary.execution_id}>{shortId(summary.execution_id)}</code>
            <CopyButton label="Copy execution id" text={() => summary.execution_id} />
          </dd>
        </div>
        {summary.observed && (
          <div className="fact fact-wide">
            <dt>Seen on</dt>
            <dd>
              <ObservedMark observed={summary.observed} />
            </dd>
          </div>
        )}
      </dl>
      {wrong !== '' && (
        <ul className="overview-wrong" aria-label="Found wrong" data-testid="overview-wrong">
          {wrong.split('\n').map((sentence) => (
            <li key={sentence}>
              <Icon name="warning" size={14} />
              {sentence}
            </li>
          ))}
        </ul>
      )}
      <ul className="tally" aria-label="Nodes by state">
        {lostCount > 0 && (
          <li>
            <LostLabel word={LOST_WORD} />
            <span className="numbers">{plural(lostCount, 'node')}</span>
          </li>
        )}
        {ORDER.filter((state) => counts[state] > 0).map((state) => (
          <li key={state}>
            <StateLabel state={state} />
            <span className="numbers">{plural(counts[state], 'node')}</span>
          </li>
        ))}
      </ul>
      {summary.error && (
        <>
          <ErrorPane error={summary.error} />
          <FailedNode nodeId={summary.error.node_id} />
        </>
      )}
      {family}
      {why ?? <p className="inspector-foot">Select a node to see its parameters, input and output.</p>}
    </>
  );
}

function FailedNode({ nodeId }: { nodeId: string | undefined }): ReactElement | null {
  if (nodeId === undefined) return null;
  return (
    <button type="button" className="inspector-link" onClick={() => selectNode(nodeId)}>
      Show the node <code>{nodeId}</code>
    </button>
  );
}

function WorkflowOverview({ entry }: { entry: WorkflowEntry }): ReactElement {
  const { definition } = entry;
  const sample = definition?.sample_input;
  const edit = editorOf();
  return (
    <>
      <Heading
        title={entry.title}
        about={
          <>
            Workflow · <code>{entry.path}</code>
          </>
        }
        aside={edit && <IconButton icon="edit" label="Open the file in the system’s editor" data-testid="edit-file" onClick={() => edit(entry.path)} />}
      />
      {entry.story !== '' && <p className="inspector-story">{entry.story}</p>}
      {definition && (
        <p className="inspector-size">
          {plural(definition.nodes.length, 'node')}, {plural(definition.edges.length, 'edge')}
        </p>
      )}
      {sample !== undefined && (
        <>
          <h3 className="panel-heading">Sample input</h3>
          <Json key={entry.path} value={sample} base="$trigger" label="Sample input" />
        </>
      )}
      {definition && <p className="inspector-foot">Select a node to see its parameters.</p>}
    </>
  );
}
