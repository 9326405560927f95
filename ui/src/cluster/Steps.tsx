import type { ReactElement } from 'react';
import type { ConnectionStep, Problem } from '../generated/protocol';
import { asSentence } from '../shared/errorWords';
import { Icon } from '../shared/icons';

/** What became of trying a connection. */
export type Trial =
  | { type: 'none' }
  | { type: 'lacking'; sentence: string }
  | { type: 'testing' }
  | { type: 'attaching' }
  | { type: 'tested'; steps: ConnectionStep[] }
  | { type: 'failed'; problem: Problem };

export function Steps({ trial }: { trial: Trial }): ReactElement {
  return (
    <div role="status" className="attach-steps" data-testid="attach-steps">
      <Content trial={trial} />
    </div>
  );
}

function Content({ trial }: { trial: Trial }): ReactElement | null {
  switch (trial.type) {
    case 'none':
      return null;
    case 'lacking':
      return <Failed message={trial.sentence} hint="" />;
    case 'testing':
      return <p className="attach-step">Trying every step…</p>;
    case 'attaching':
      return <p className="attach-step">Attaching…</p>;
    case 'failed':
      return <Failed message={trial.problem.message} hint={trial.problem.hint} />;
    case 'tested':
      return (
        <>
          <ol aria-label="Steps">
            {trial.steps.map(({ what, problem }) => (
              <li key={what}>
                {problem ? (
                  <Failed message={problem.message} hint={problem.hint} />
                ) : (
                  <p className="attach-step attach-good">
                    <Icon name="check" />
                    <span>{asSentence(what)}.</span>
                  </p>
                )}
              </li>
            ))}
          </ol>
          {lacksOneServer(trial.steps) && <p className="attach-step">You can attach all the same: what is away is not seen until it is back, and that is tried by itself.</p>}
        </>
      );
  }
}

/** One server is away for now, and nothing else is in the way. */
function lacksOneServer(steps: ConnectionStep[]): boolean {
  const problems = steps.flatMap(({ problem }) => problem ?? []);
  return problems.length === 1 && steps.length > 1 && problems[0]?.code === 'unreachable';
}

function Failed({ message, hint }: { message: string; hint: string }): ReactElement {
  const sentence = asSentence(message);
  return (
    <p className="attach-step attach-bad">
      <Icon name="error" />
      <span>
        {/[.!?]$/.test(sentence) ? sentence : `${sentence}.`}
        {hint !== '' && <span className="attach-hint"> {asSentence(hint)}.</span>}
      </span>
    </p>
  );
}
