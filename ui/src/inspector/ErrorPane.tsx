import type { ReactElement } from 'react';
import type { NodeError } from '../generated/protocol';
import { CopyButton } from '../shared/CopyButton';
import { Icon } from '../shared/icons';
import { textOf } from '../shared/json/JsonRow';
import { JsonTree } from '../shared/json/JsonTree';

export function ErrorPane({ error }: { error: NodeError }): ReactElement {
  return (
    <div className="error-pane">
      <div className="error-box">
        <Icon name="error" />
        <div className="error-text">
          <p>{error.message}</p>
          <p className="error-code">{error.code}</p>
        </div>
        <CopyButton label="Copy error" text={() => textOf(error)} />
      </div>
      {error.details !== undefined && error.details !== null && (
        <JsonTree value={error.details} base="error.details" label="Details of the error" />
      )}
    </div>
  );
}
