import type { ReactElement } from 'react';
import type { ClusterConnection } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { COLOUR_NAMES, colourOf } from '../shared/clusterColours';
import { Icon } from '../shared/icons';
import { moveFocus } from '../shared/roving';

interface Props {
  saved: ClusterConnection[];
  /** By name; null for a new one. */
  chosen: string | null;
  onChoose: (connection: ClusterConnection | null) => void;
  onForget: (name: string) => void;
}

export function SavedConnections({ saved, chosen, onChoose, onForget }: Props): ReactElement {
  return (
    <nav className="attach-saved" aria-label="Saved connections">
      <ul onKeyDown={moveFocus}>
        {saved.map((connection) => (
          <li key={connection.name} className="attach-saved-item">
            <button
              type="button"
              data-roving
              className="row attach-saved-row"
              aria-current={chosen === connection.name}
              tabIndex={chosen === connection.name ? 0 : -1}
              onClick={() => onChoose(connection)}
            >
              <span className={`swatch cluster-${colourOf(connection.colour)}`} role="img" aria-label={COLOUR_NAMES[colourOf(connection.colour)]} />
              <span className="attach-saved-name">{connection.name}</span>
            </button>
            {chosen === connection.name && (
              <IconButton icon="close" label={`Forget ${connection.name} and its passwords`} onClick={() => onForget(connection.name)} />
            )}
          </li>
        ))}
        <li>
          <button
            type="button"
            data-roving
            className="row attach-saved-row"
            aria-current={chosen === null}
            tabIndex={chosen === null ? 0 : -1}
            onClick={() => onChoose(null)}
          >
            <Icon name="plus" size={12} />
            <span className="attach-saved-name">New connection</span>
          </button>
        </li>
      </ul>
    </nav>
  );
}
