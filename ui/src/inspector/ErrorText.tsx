import type { ReactElement } from 'react';
import type { NodeError } from '../generated/protocol';
import { asSentence, errorWord } from '../shared/errorWords';

/** Longer than this it may scroll, so the keyboard has to reach it. */
const LONG = 300;

/** What went wrong: the sentence, then its kind in words and as the code that workflows see. */
export function ErrorText({ error: { message, code } }: { error: NodeError }): ReactElement {
  const word = errorWord(code);
  return (
    <div className="error-text">
      <p className="error-message" tabIndex={message.length > LONG ? 0 : undefined}>
        {asSentence(message)}
      </p>
      <p className="error-code">
        {word}
        {word !== code && <code>{code}</code>}
      </p>
    </div>
  );
}
