/** A fork before it happens: where it begins, what is changed there, and what it would do to the world outside. */
import { type ReactElement, useEffect, useRef, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { ForkPoint, Problem } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { shortId } from '../shared/format';
import { JsonField } from '../shared/JsonField';
import { parseJson } from '../shared/json/fault';
import { textOf } from '../shared/json/JsonRow';
import { forkPoint, startFork } from '../state/actions';
import { editOf, editable, prepareFork, wishOf } from '../state/fork';
import { type ForkDraft, useStore } from '../state/store';
import { Beginning } from './Beginning';
import { Consequences, asksSomebody } from './Consequences';
import { type Previewed, usePreview } from './usePreview';
import './fork.css';

export function ForkDialog(): ReactElement | null {
  const draft = useStore((state) => state.fork);
  return draft && <Dialog key={JSON.stringify(draft)} draft={draft} />;
}

type Point = { type: 'loading' } | { type: 'known'; point: ForkPoint } | { type: 'unknown'; problem: Problem } | { type: 'none' };

function Dialog({ draft }: { draft: ForkDraft }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const point = usePoint(draft);
  const known = point.type === 'known' ? point.point : null;
  const before = known ? editable(known.place) : undefined;
  const [written, setWritten] = useState<string | null>(null);
  const [run, setRun] = useState<readonly string[]>([]);
  const [agreed, setAgreed] = useState(false);
  const [starting, setStarting] = useState(false);
  const [refused, setRefused] = useState<Problem | null>(null);

  const parsed = written === null ? null : parseJson(written);
  const edit = known && parsed?.type === 'value' ? editOf(known.place, parsed.value) : null;
  const wish = wishOf(draft, edit, run);
  const ready = point.type === 'known' || point.type === 'none';
  const preview = usePreview(draft.executionId, wish, ready && parsed?.type !== 'fault');
  const asks = preview.type === 'known' ? preview.preview.effects_total : 0;
  const wide = useWide(preview);
  const able = preview.type === 'known' && (asks === 0 || agreed) && !starting;

  useEffect(() => dialog.current?.showModal(), []);
  const start = async (): Promise<void> => {
    if (!able) return;
    setStarting(true);
    try {
      await startFork(draft.executionId, wish);
      prepareFork(null);
    } catch (thrown) {
      setRefused(problemOf(thrown));
      setStarting(false);
    }
  };

  return (
    <dialog ref={dialog} className={wide ? 'fork-dialog fork-wide' : 'fork-dialog'} aria-labelledby="fork-title" onClose={() => prepareFork(null)} data-testid="fork-dialog">
      <div className="fork-head">
        <h2 id="fork-title">{TITLES[draft.from]}</h2>
        <p>
          on this machine · <code title={draft.executionId}>{shortId(draft.executionId)}</code> stays as it is
        </p>
        <IconButton icon="close" label="Close (Esc)" onClick={() => dialog.current?.close()} />
      </div>
      <div className="fork-body">
        <section className="fork-part" aria-label="Where it begins">
          <Beginning draft={draft} point={known} />
          {point.type === 'unknown' && <Refusal problem={point.problem} />}
          {before !== undefined && known && (
            <JsonField
              start={textOf(before)}
              onChange={setWritten}
              label={EDIT_LABELS[known.place.type]}
              note={edit === null ? 'As it was. Change it to go another way.' : 'Changed; everything behind it works with this.'}
              onApply={() => void start()}
              onCancel={() => dialog.current?.close()}
              testId="fork-editor"
            />
          )}
        </section>
        <Consequences preview={preview} run={run} onRun={draft.from === 'event' ? setRun : null} agreed={agreed} onAgree={setAgreed} />
      </div>
      {refused && <Refusal problem={refused} />}
      <div className="fork-foot">
        <p className="fork-note">A new execution starts; this one is only read.</p>
        <Button onClick={() => dialog.current?.close()}>Cancel</Button>
        <Button icon="fork" look="primary" disabled={!able} data-testid="start-fork" onClick={() => void start()}>
          {isRerun(draft) ? 'Re-run on this machine' : 'Fork on this machine'}
        </Button>
      </div>
    </dialog>
  );
}

const TITLES: { [K in ForkDraft['from']]: string } = { event: 'Fork', node: 'Fork', failed: 'Re-run the failed items', item: 'Re-run one item' };

function isRerun({ from }: ForkDraft): boolean {
  return from === 'failed' || from === 'item';
}

const EDIT_LABELS: { [K in ForkPoint['place']['type']]: string } = {
  input: 'The input of the execution',
  context: 'What the node sees',
  output: 'What the node puts out',
  failure: 'What the node puts out, in place of its error',
  nothing: '',
};

function Refusal({ problem }: { problem: Problem }): ReactElement {
  return (
    <p className="fork-problem" role="alert">
      <strong>{problem.message}</strong> {problem.hint}
    </p>
  );
}

/** Where nobody outside is asked, one sentence is all there is to say of it. While that is found out, nothing moves. */
function useWide(preview: Previewed): boolean {
  const [wide, setWide] = useState(false);
  const now = preview.type === 'waiting' ? wide : asksSomebody(preview);
  if (now !== wide) setWide(now);
  return now;
}

/** Only a fork from an event has something that can be changed. */
function usePoint(draft: ForkDraft): Point {
  const position = draft.from === 'event' ? draft.position : null;
  const [point, setPoint] = useState<Point>(position === null ? { type: 'none' } : { type: 'loading' });
  useEffect(() => {
    if (position === null) return undefined;
    let wanted = true;
    forkPoint(draft.executionId, position).then(
      (found) => wanted && setPoint({ type: 'known', point: found }),
      (thrown: unknown) => wanted && setPoint({ type: 'unknown', problem: problemOf(thrown) }),
    );
    return () => {
      wanted = false;
    };
  }, [draft.executionId, position]);
  return point;
}
