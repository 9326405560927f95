import type { ReactElement } from 'react';
import { keyWords, nodeTitle } from '../shared/controlWords';
import { formatClock } from '../shared/format';
import { shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';

/** More of them nobody reads here. */
const SHOWN = 200;

/** What logpoints have said, the latest first. */
export function LogLines(): ReactElement | null {
  const log = useStore((state) => state.control.view?.log ?? null);
  const definition = useStore(shownDefinition);
  const hidden = useStore((state) => state.preferences.presenter);
  if (log === null || log.length === 0) return null;
  return (
    <section className="breaks-part" aria-label="What logpoints have said" data-testid="log-lines">
      <header className="breaks-head">
        <h3>Said by logpoints</h3>
      </header>
      <ol className="log-lines">
        {log
          .slice(-SHOWN)
          .toReversed()
          .map((line, index) => (
            <li key={log.length - index}>
              <time className="numbers">{formatClock(line.at)}</time> <span className="log-node">{nodeTitle(definition, line.node_id)}</span> <code>{keyWords(line.key)}</code>{' '}
              <span className="log-text">{hidden ? 'something' : line.text}</span>
            </li>
          ))}
      </ol>
    </section>
  );
}
