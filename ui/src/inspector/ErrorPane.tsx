import type { ReactElement } from 'react';
import type { NodeError } from '../generated/protocol';
import { CopyButton } from '../shared/CopyButton';
import { deadLetterSentence } from '../shared/errorWords';
import { Icon } from '../shared/icons';
import { textOf } from '../shared/json/JsonRow';
import { ErrorText } from './ErrorText';
import { Json } from './Json';

interface Props {
  error: NodeError;
  /** Of the firing that failed, where one is known. */
  attempts?: number;
  /** What to do about it. */
  hint?: string | null;
}

export function ErrorPane({ error, attempts, hint }: Props): ReactElement {
  const deadLetter = deadLetterSentence(error, attempts);
  return (
    <div className="error-pane">
      <div className="error-box">
        <Icon name="error" />
        <ErrorText error={error} />
        <CopyButton label="Copy error" text={() => textOf(error)} />
      </div>
      {deadLetter !== null && (
        <p className="dead-letter" role="note" data-testid="dead-letter">
          <Icon name="mail" />
          {deadLetter}
        </p>
      )}
      {hint !== undefined && hint !== null && (
        <p className="error-hint" role="note">
          <strong>Next:</strong> {hint}
        </p>
      )}
      {error.details !== undefined && error.details !== null && (
        <Json value={error.details} base={null} label="Details of the error" />
      )}
    </div>
  );
}
