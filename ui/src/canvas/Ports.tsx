/** The two sides of a node where a breakpoint may stand. There only where one looks, or where one is set. */
import type { MouseEvent, ReactElement } from 'react';
import { BreakDot } from '../shared/BreakDot';
import { controlledPath, toggleBreakpoint } from '../state/control';
import { type BreakMark, nodeMarks } from '../state/controlMarks';
import { useStore } from '../state/store';

interface Props {
  nodeId: string;
  title: string;
  /** The pointer is at the node, so the empty places are offered too. */
  offered: boolean;
}

export function Ports({ nodeId, title, offered }: Props): ReactElement | null {
  const marks = useStore((state) => nodeMarks(state, nodeId));
  if (!offered && marks.before === null && marks.after === null) return null;
  return <Places nodeId={nodeId} title={title} offered={offered} before={marks.before} after={marks.after} />;
}

function Places({ nodeId, title, offered, before, after }: Props & { before: BreakMark | null; after: BreakMark | null }): ReactElement | null {
  const able = useStore((state) => controlledPath(state) !== null);
  if (!able) return null;
  return (
    <>
      {(offered || before) && <Place nodeId={nodeId} title={title} side="before" mark={before} />}
      {(offered || after) && <Place nodeId={nodeId} title={title} side="after" mark={after} />}
    </>
  );
}

function Place({ nodeId, title, side, mark }: { nodeId: string; title: string; side: 'before' | 'after'; mark: BreakMark | null }): ReactElement {
  const key = side === 'before' ? 'F9' : 'Shift+F9';
  const onClick = (event: MouseEvent): void => {
    event.stopPropagation();
    toggleBreakpoint({ type: side, nodeId });
  };
  const label = `${WORDS[mark?.state ?? 'none']} ${side} ${title} (${key})`;
  return (
    <button
      type="button"
      // By keyboard it is F9 at the node.
      tabIndex={-1}
      className={`port port-${side} nodrag nopan`}
      title={label}
      aria-label={label}
      data-testid={`port-${side}-${nodeId}`}
      data-break={mark?.state ?? 'none'}
      onClick={onClick}
    >
      <BreakDot mark={mark} />
    </button>
  );
}

const WORDS = { none: 'Set a breakpoint', set: 'Disable the breakpoint', disabled: 'Remove the breakpoint' };
