import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { keyWords, mockWords, nodeTitle } from '../shared/controlWords';
import { Icon } from '../shared/icons';
import { textOf } from '../shared/json/JsonRow';
import { unmock } from '../state/control';
import { shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';

const LONGEST = 80;

/** What nodes answer instead of doing their work. */
export function MockList(): ReactElement {
  const mocks = useStore((state) => state.control.controls.mocks);
  const definition = useStore(shownDefinition);
  const hidden = useStore((state) => state.preferences.presenter);
  return (
    <section className="breaks-part" aria-label="Pins and mocks" data-testid="mocks">
      <header className="breaks-head">
        <h3>Pins and mocks</h3>
      </header>
      {mocks.length === 0 && (
        <p className="breaks-none">
          Pin an output with <kbd>P</kbd>, or let a node fail or take longer: select it, and choose Mock.
        </p>
      )}
      <ul>
        {mocks.map(({ node_id, key, answer }) => (
          <li key={`${node_id} ${key ?? ''}`} className="mock-row">
            <Icon name={answer.type === 'output' ? 'pin' : 'simulate'} />
            <button type="button" className="break-place" onClick={() => selectNode(node_id)}>
              <strong>{nodeTitle(definition, node_id)}</strong>
              {(key ?? null) !== null && <code> {keyWords(key ?? '')}</code>}{' '}
              <span className="mock-words">
                {mockWords(answer)}
                {answer.type === 'output' && !hidden && <code className="mock-value">{textOf(answer.value).slice(0, LONGEST)}</code>}
              </span>
            </button>
            <IconButton
              icon="close"
              label={`Remove: ${nodeTitle(definition, node_id)} ${mockWords(answer)}`}
              data-testid={`remove-mock-${node_id}`}
              onClick={() => unmock(node_id, key ?? null)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
