/** Error codes in the words people read. */
import type { ErrorCode, NodeError } from '../generated/protocol';
import { own } from './record';

const ERROR_WORDS: { [K in ErrorCode]: string } = {
  EXPRESSION_FAILED: 'Expression failed',
  EXPRESSION_LIMIT: 'Expression used too much',
  INVALID_PARAMETER: 'Wrong parameter',
  NODE_EXECUTION_FAILED: 'The work failed',
  SIMULATED_FAILURE: 'Simulated failure',
  TIMEOUT_EXCEEDED: 'Not complete in time',
  INCOMPLETE_MERGE: 'A branch is missing',
  ZIP_LENGTH_MISMATCH: 'The two sides have different lengths',
  LIMIT_EXCEEDED: 'More than a limit allows',
  CREDENTIAL_NOT_FOUND: 'Credential not found',
  CREDENTIAL_UNUSABLE: 'Credential cannot be used',
  CREDENTIALS_UNREACHABLE: 'Credentials cannot be reached',
  CONNECTION_FAILED: 'No connection',
  HTTP_TIMEOUT: 'No answer in time',
  HTTP_BODY_TOO_LARGE: 'Answer too large',
  HTTP_TOO_MANY_REDIRECTS: 'Too many redirects',
  ADDRESS_FORBIDDEN: 'Address not allowed here',
  HTTP_STATUS_RAISED: 'Status counts as failure',
  MAIL_REFUSED: 'Mail refused',
  RETRIES_USED_UP: 'Retries used up',
  LINEAGE_MISMATCH: 'Message out of place',
  CANCELLED: 'Cancelled',
  STALLED: 'Stalled',
  NOT_OBSERVED: 'Not seen from here',
};

/** A recording may come from a newer Runeglass, whose codes have no words here yet. */
export function errorWord(code: string): string {
  return own<string>(ERROR_WORDS, code) ?? code;
}

/** Messages come as clauses; on a line of their own they begin like sentences. */
export function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** With a full stop, where none is there yet. What begins with the name of a queue or a key keeps its small letter. */
export function wholeSentence(text: string): string {
  const begun = /^[a-z]+[ ,]/.test(text) ? asSentence(text) : text;
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** In a narrow place: what went wrong, without the expression in which it did. */
export function essenceOf(message: string): string {
  const end = message.lastIndexOf('}}: ');
  return message.startsWith('parameter ') && end >= 0 ? message.slice(end + 4) : message;
}

/** What became of a message that was given up by the house and not by its node; `null` where none was. */
export function deadLetterSentence(error: NodeError, attempts?: number): string | null {
  if (error.code !== 'RETRIES_USED_UP' && error.code !== 'LINEAGE_MISMATCH') return null;
  const count = attemptsIn(error.details) ?? attempts;
  const after = count === undefined ? '' : ` after ${count} ${count === 1 ? 'attempt' : 'attempts'}`;
  return `Given up by the house${after}; kept as a dead letter.`;
}

/** The house counts its own attempts; those of the node's policy came before. */
function attemptsIn(details: unknown): number | undefined {
  if (typeof details !== 'object' || details === null || !('attempts' in details)) return undefined;
  return typeof details.attempts === 'number' ? details.attempts : undefined;
}
