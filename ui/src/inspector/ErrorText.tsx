import type { ReactElement, ReactNode } from 'react';
import type { NodeError } from '../generated/protocol';
import { asSentence, errorWord } from '../shared/errorWords';

/** Longer than this it may scroll, so the keyboard has to reach it. */
const LONG = 300;

interface Props {
  error: NodeError;
  /** Stands in place of the code, which is then told on hover. */
  aside?: ReactNode;
}

/** What went wrong: the sentence, then its kind in words and as the code that workflows see. */
export function ErrorText({ error: { message, code }, aside }: Props): ReactElement {
  const word = errorWord(code);
  return (
    <div className="error-text">
      <p className="error-message" tabIndex={message.length > LONG ? 0 : undefined}>
        {asSentence(message)}
      </p>
      <p className="error-code">
        <span title={code}>{word}</span>
        {aside ?? (word !== code && <code>{code}</code>)}
      </p>
    </div>
  );
}
