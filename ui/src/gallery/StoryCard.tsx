import type { ReactElement } from 'react';
import type { ExecutionSummary, WorkflowEntry } from '../generated/protocol';
import { Button } from '../shared/Button';
import { formatRelative, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { shownPhase } from '../shared/phase';
import { PhaseLabel } from '../shared/states';
import { useNow } from '../shared/useNow';
import { run } from '../state/actions';
import { aheadOf, countSeverity } from '../state/selectors';
import { openWorkflow, useStore } from '../state/store';
import { Drawing } from './Drawing';
import { traitsOf } from './traits';

/** One workflow: its shape, its story, what came of it last time, and the one click that runs it. */
export function StoryCard({ entry }: { entry: WorkflowEntry }): ReactElement {
  const last = useStore((state) => state.executions.find((each) => each.path === entry.path) ?? null);
  const starting = useStore((state) => state.starting);
  const errors = countSeverity(entry.diagnostics, 'error');
  const { definition } = entry;
  return (
    <li className="story" data-testid={`story-${entry.path}`}>
      <button type="button" className="story-open" title={entry.path} onClick={() => openWorkflow(entry.path)}>
        <span className="story-picture">{definition ? <Drawing definition={definition} /> : <Icon name="file" size={28} />}</span>
        <span className="story-title">{entry.title}</span>
        <span className="story-text">{entry.story === '' ? entry.path : entry.story}</span>
      </button>
      <ul className="story-traits" aria-label="What it is about">
        {(definition ? traitsOf(definition) : []).map((trait) => (
          <li key={trait} className="badge">
            {trait}
          </li>
        ))}
      </ul>
      <div className="story-foot">
        {errors > 0 ? <Wrong errors={errors} /> : <Last execution={last} />}
        <Button
          icon="play"
          look="primary"
          disabled={errors > 0 || definition === null || starting}
          aria-label={`Run ${entry.title}`}
          data-testid={`story-run-${entry.path}`}
          onClick={() => void run(entry.path)}
        >
          Run
        </Button>
      </div>
    </li>
  );
}

function Wrong({ errors }: { errors: number }): ReactElement {
  return (
    <span className="story-last badge-error badge">
      <Icon name="error" size={12} /> {plural(errors, 'error')} in the file
    </span>
  );
}

function Last({ execution }: { execution: ExecutionSummary | null }): ReactElement {
  const now = useNow();
  const ahead = useStore((state) => aheadOf(state, execution));
  const phase = useStore((state) => execution && shownPhase(execution, state.cluster));
  if (execution === null || phase === null) return <span className="story-last">not run yet</span>;
  return (
    <span className="story-last">
      <PhaseLabel phase={phase} /> {formatRelative(execution.started_at, now + ahead)}
    </span>
  );
}
