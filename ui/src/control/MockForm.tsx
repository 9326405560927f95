/** Lets a node answer something else than its work: fail, or take longer. Outputs are pinned where they are seen. */
import { type FormEvent, type KeyboardEvent, type ReactElement, useId, useState } from 'react';
import type { MockAnswer, Node, Problem } from '../generated/protocol';
import { Button } from '../shared/Button';
import { mockWords } from '../shared/controlWords';
import { Icon } from '../shared/icons';
import { Segments } from '../shared/Segments';
import { inspectedHeld, mock, unmock } from '../state/control';
import { keyAt } from '../state/selectors';
import { useStore } from '../state/store';

type Kind = 'error' | 'latency';

export function MockForm({ node, onClose }: { node: Node; onClose: () => void }): ReactElement {
  const id = useId();
  const [kind, setKind] = useState<Kind>('error');
  const [text, setText] = useState('made to fail');
  const [millis, setMillis] = useState('1000');
  const [onlyKey, setOnlyKey] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  // The item one looks at: of the held message, or the one whose way is shown.
  const key = useStore((state) => {
    const here = inspectedHeld(state)?.key ?? keyAt(state, node.id);
    return here === '' ? null : here;
  });
  const known = useStore((state) => state.control.controls.mocks);
  const mine = known.filter((each) => each.node_id === node.id);
  const keep = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const answer: MockAnswer = kind === 'error' ? { type: 'error', message: text } : { type: 'latency', millis: Math.max(Number(millis) || 0, 0) };
    const refused = await mock(node.id, onlyKey ? key : null, answer);
    setProblem(refused);
    if (!refused) onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
  };
  return (
    <form className="mock-form" aria-label="Mock" data-testid="mock-form" onSubmit={(event) => void keep(event)} onKeyDown={onKeyDown}>
      <Segments
        label="What it does instead"
        active={kind}
        options={[
          { id: 'error', label: 'Fails' },
          { id: 'latency', label: 'Takes longer' },
        ]}
        onSelect={setKind}
      />
      {kind === 'error' ? (
        <label className="break-field" htmlFor={`${id}-text`}>
          <span>Says</span>
          <input id={`${id}-text`} value={text} required data-testid="mock-message" onChange={(event) => setText(event.target.value)} />
        </label>
      ) : (
        <label className="break-field" htmlFor={`${id}-millis`}>
          <span>Milliseconds</span>
          <input id={`${id}-millis`} type="number" min={0} required value={millis} data-testid="mock-millis" onChange={(event) => setMillis(event.target.value)} />
        </label>
      )}
      {key !== null && (
        <label className="mock-only">
          <input type="checkbox" checked={onlyKey} onChange={(event) => setOnlyKey(event.target.checked)} /> Only for <code>{key}</code>
        </label>
      )}
      {problem && (
        <p className="break-complaint" role="alert">
          <Icon name="error" size={14} /> {problem.message} {problem.hint}
        </p>
      )}
      {mine.map(({ key: at, answer }) => (
        <p key={at ?? ''} className="mock-now">
          Now: {mockWords(answer)} {at ? <code>{at}</code> : null}
          <Button onClick={() => unmock(node.id, at ?? null)}>Remove</Button>
        </p>
      ))}
      <div className="break-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" data-testid="keep-mock">
          Mock it
        </Button>
      </div>
    </form>
  );
}
