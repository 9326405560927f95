/** What a node reads: each value, the parameter it is used in, and the node that made it. */
import type { ReactElement } from 'react';
import type { PayloadView } from '../generated/protocol';
import { Icon, kindIcon } from '../shared/icons';
import { rowsOf, kindOf } from '../shared/json/rows';
import { placeOf } from '../shared/json/path';
import { moveFocus } from '../shared/roving';
import { titleOf } from '../shared/title';
import { nodeById, shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { type UsedInput, readFrom } from './usedInputs';

const CLOSED = new Map([[placeOf([]), false]]);

export function UsedInputs({ inputs, context, hidden }: { inputs: UsedInput[]; context: PayloadView; hidden: boolean }): ReactElement {
  return (
    <ul className="used" aria-label="Values it reads" data-testid="used-inputs" onKeyDown={moveFocus}>
      {inputs.map((input, index) => (
        <li key={input.expression}>
          <Used input={input} context={context} tabStop={index === 0} hidden={hidden} />
        </li>
      ))}
    </ul>
  );
}

interface UsedProps {
  input: UsedInput;
  context: PayloadView;
  tabStop: boolean;
  hidden: boolean;
}

function Used({ input, context, tabStop, hidden }: UsedProps): ReactElement {
  const source = useStore((state) => nodeById(shownDefinition(state), input.from));
  return (
    <button
      type="button"
      data-roving
      tabIndex={tabStop ? 0 : -1}
      className="row used-row"
      disabled={source === null}
      onClick={() => source && selectNode(source.id)}
    >
      <code className="used-name" title={input.expression}>
        {input.expression}
      </code>
      {!hidden && <Value input={input} context={context} />}
      <span className="used-from">
        {source ? (
          <>
            from <Icon name={kindIcon(source.type)} size={12} /> <strong>{titleOf(source)}</strong>
          </>
        ) : (
          'from the execution itself'
        )}
        {input.usedIn.length > 0 && <span className="used-in"> · in {input.usedIn.join(', ')}</span>}
      </span>
    </button>
  );
}

function Value({ input, context }: { input: UsedInput; context: PayloadView }): ReactElement {
  if (context.type === 'cut') return <span className="used-value used-unknown">in a part of the input that is too large to show</span>;
  const read = readFrom(context.data.json, input);
  if (read.type === 'absent') return <span className="used-value used-unknown">not among what it was given</span>;
  const [row] = rowsOf(read.value, CLOSED);
  return <code className={`used-value json-${kindOf(read.value)}`}>{row?.text}</code>;
}
