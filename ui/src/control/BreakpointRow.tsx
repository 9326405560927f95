import type { ReactElement } from 'react';
import type { Breakpoint } from '../generated/protocol';
import { BreakDot } from '../shared/BreakDot';
import { IconButton } from '../shared/Button';
import { PLACE_WORDS, conditionWords, isThere, placeWords, targetOf } from '../shared/controlWords';
import { plural } from '../shared/format';
import { changeBreakpoint, complain, removeBreakpoint } from '../state/control';
import { markOf } from '../state/controlMarks';
import { shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';

interface Props {
  breakpoint: Breakpoint;
  index: number;
  /** Null where nothing runs that could hit it. */
  hits: number | null;
  complaint: string | null;
  onEdit: () => void;
}

export function BreakpointRow({ breakpoint, index, hits, complaint, onEdit }: Props): ReactElement {
  const definition = useStore(shownDefinition);
  const { place, log } = breakpoint;
  const words = placeWords(place, definition);
  const there = isThere(place, definition);
  const toggle = (): void => {
    void changeBreakpoint(index, { ...breakpoint, disabled: breakpoint.disabled !== true }).then(complain);
  };
  const show = (): void => {
    const node = place.type === 'edge' ? definition?.edges.find(({ id }) => id === place.edge_id)?.src : place.node_id;
    if (node) selectNode(node);
  };
  return (
    <div className={breakpoint.disabled ? 'break-row break-row-off' : 'break-row'} data-testid={`breakpoint-${index}`}>
      <input type="checkbox" className="break-check" checked={breakpoint.disabled !== true} aria-label={`Breakpoint ${index + 1}: ${words}`} onChange={toggle} />
      <BreakDot mark={markOf(breakpoint, complaint !== null)} />
      <button type="button" className="break-place" onClick={show} title="Show it in the graph">
        <span className="break-number numbers">{index + 1}</span> {PLACE_WORDS[place.type]} <strong>{targetOf(place, definition)}</strong>
      </button>
      <span className="break-conditions">
        {conditionWords(breakpoint).map((each) => (
          <code key={each}>{each}</code>
        ))}
        {(log ?? null) !== null && <span className="break-log">says “{log}”</span>}
      </span>
      {hits !== null && <span className="break-hits numbers">{plural(hits, 'hit')}</span>}
      <IconButton icon="edit" label={`Change breakpoint ${index + 1}`} data-testid={`edit-breakpoint-${index}`} onClick={onEdit} />
      <IconButton icon="close" label={`Remove breakpoint ${index + 1}`} data-testid={`remove-breakpoint-${index}`} onClick={() => removeBreakpoint(index)} />
      {!there && <p className="break-complaint">The file has no such place any more; it holds nothing.</p>}
      {complaint !== null && <p className="break-complaint" data-testid="break-complaint">Its condition cannot be decided: {complaint}</p>}
    </div>
  );
}
