/** What a fork would do to the world outside: what is really asked, and what is answered from the recording. */
import type { ReactElement } from 'react';
import type { ForkPreview, SideEffect } from '../generated/protocol';
import { formatCount, plural } from '../shared/format';
import { Icon } from '../shared/icons';
import { titleOf } from '../shared/title';
import { nodeById, shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import type { Previewed } from './usePreview';

const MOST_LISTED = 50;

interface Props {
  preview: Previewed;
  /** Nodes that really ask although the recording has an answer. */
  run: readonly string[];
  /** Null where that cannot be chosen. */
  onRun: ((run: readonly string[]) => void) | null;
  agreed: boolean;
  onAgree: (agreed: boolean) => void;
}

/** Or would, if it were not answered from the recording. */
export function asksSomebody(preview: Previewed): boolean {
  return preview.type === 'known' && preview.preview.effects_total + preview.preview.pinned > 0;
}

export function Consequences({ preview, run, onRun, agreed, onAgree }: Props): ReactElement {
  return (
    <section className="fork-part fork-consequences" aria-label="What it would do" data-testid="fork-preview" data-state={preview.type}>
      <h3>What it would do outside</h3>
      {preview.type === 'waiting' && <p className="fork-note">Finding out, without asking anybody…</p>}
      {preview.type === 'unknown' && (
        <p className="fork-problem" role="alert">
          <strong>{preview.problem.message}</strong> {preview.problem.hint}
        </p>
      )}
      {preview.type === 'known' && <Found preview={preview.preview} run={run} onRun={onRun} agreed={agreed} onAgree={onAgree} />}
    </section>
  );
}

function Found({ preview, run, onRun, agreed, onAgree }: Omit<Props, 'preview'> & { preview: ForkPreview }): ReactElement {
  const { effects, effects_total: total, pins, pinned } = preview;
  return (
    <>
      {total === 0 ? (
        <p className="fork-calm">
          <Icon name="check" /> Nothing outside is asked.
        </p>
      ) : (
        <>
          <p className="fork-alarm">
            <Icon name="warning" /> {plural(total, 'question')} would <strong>really be asked</strong>, as far as that can be told before the first answer is there:
          </p>
          <Listed of={effects} total={total} label="Really asked" />
          <label className="fork-agree">
            <input type="checkbox" checked={agreed} data-testid="fork-agree" onChange={(event) => onAgree(event.target.checked)} />
            Ask {total === 1 ? 'it' : 'all of them'} for real
          </label>
        </>
      )}
      {(pinned > 0 || run.length > 0) && (
        <>
          <p className="fork-pins">
            <Icon name="pinned" /> {pinnedWords(pinned, onRun !== null)}
          </p>
          {onRun ? <Choices pins={pins} run={run} onRun={onRun} /> : <Listed of={pins} total={pinned} label="Answered from the recording" />}
        </>
      )}
    </>
  );
}

function pinnedWords(pinned: number, choosable: boolean): string {
  if (pinned === 0) return 'Nothing is answered from the recording. Chosen to ask for real:';
  const words = `${plural(pinned, 'question')} ${pinned === 1 ? 'is' : 'are'} answered from the recording`;
  return choosable ? `${words}. Choose who asks for real:` : `${words}:`;
}

function Choices({ pins, run, onRun }: { pins: readonly SideEffect[]; run: readonly string[]; onRun: (run: readonly string[]) => void }): ReactElement {
  const definition = useStore(shownDefinition);
  // Those that were chosen are no pins any more, and can be taken back all the same.
  const nodes = [...new Set([...pins.map((pin) => pin.node_id), ...run])].toSorted();
  return (
    <ul className="fork-choices" aria-label="Answered from the recording">
      {nodes.map((id) => {
        const mine = pins.filter((pin) => pin.node_id === id);
        const node = nodeById(definition, id);
        const asks = mine[0]?.asks ?? '';
        return (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={run.includes(id)}
                data-testid={`fork-run-${id}`}
                onChange={(event) => onRun(event.target.checked ? [...run, id] : run.filter((each) => each !== id))}
              />
              <strong>{node ? titleOf(node) : id}</strong>
              {mine.length > 1 && <span className="fork-times numbers">{formatCount(mine.length)} ×</span>}
              <code title={asks}>{asks}</code>
            </label>
          </li>
        );
      })}
    </ul>
  );
}

function Listed({ of, total, label }: { of: readonly SideEffect[]; total: number; label: string }): ReactElement {
  const definition = useStore(shownDefinition);
  const shown = of.slice(0, MOST_LISTED);
  return (
    <ul className="fork-effects" aria-label={label} tabIndex={0}>
      {shown.map(({ node_id, key, asks }, index) => {
        const node = nodeById(definition, node_id);
        return (
          <li key={index}>
            <strong>{node ? titleOf(node) : node_id}</strong>
            {key !== '' && <code className="fork-key">{key}</code>}
            <code className="fork-asks" title={asks}>
              {asks}
            </code>
          </li>
        );
      })}
      {total > shown.length && <li className="fork-note">and {formatCount(total - shown.length)} more</li>}
    </ul>
  );
}
