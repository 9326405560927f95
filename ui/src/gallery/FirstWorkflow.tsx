/** An empty folder: what belongs there, ready to be taken along. */
import type { ReactElement } from 'react';
import { CopyButton } from '../shared/CopyButton';

/** Small enough to be read at a glance, and it runs as it is. */
export const FIRST_WORKFLOW = `{
  "name": "Hello",
  "sample_input": { "name": "Ada" },
  "nodes": [
    { "id": "start", "type": "trigger" },
    { "id": "say", "type": "log", "parameters": { "message": "Hello $trigger.name" } }
  ],
  "edges": [{ "id": "e1", "src": "start", "dst": "say" }]
}
`;

export function FirstWorkflow({ folder }: { folder: string }): ReactElement {
  return (
    <div className="gallery-first" data-testid="first-workflow">
      <p>
        Save this as <code>hello.json</code> in <code>{folder}</code>: it appears here by itself, ready to run. Or drop a recording on this
        window to see what happened elsewhere.
      </p>
      <div className="gallery-file">
        <CopyButton label="Copy the workflow" text={() => FIRST_WORKFLOW} />
        <pre tabIndex={0} aria-label="A first workflow">
          {FIRST_WORKFLOW}
        </pre>
      </div>
    </div>
  );
}
