/** Where a fork begins, in words. */
import type { ReactElement } from 'react';
import type { ForkPoint } from '../generated/protocol';
import { formatClock, formatCount } from '../shared/format';
import { titleOf } from '../shared/title';
import { nodeById, shownDefinition } from '../state/selectors';
import { type ForkDraft, useStore } from '../state/store';

export function Beginning({ draft, point }: { draft: ForkDraft; point: ForkPoint | null }): ReactElement {
  const definition = useStore(shownDefinition);
  const title = (id: string): string => {
    const node = nodeById(definition, id);
    return node ? titleOf(node) : id;
  };
  if (draft.from === 'node') {
    return (
      <p className="fork-where">
        <strong>{title(draft.nodeId)}</strong> and everything behind it work again. Everything else is taken from the recording.
      </p>
    );
  }
  if (draft.from === 'failed') {
    return (
      <p className="fork-where">
        The items that failed at <strong>{title(draft.nodeId)}</strong> run again, with what follows from them. All others are taken from the recording, and what
        gathers them gathers all of them anew, in their order.
      </p>
    );
  }
  if (draft.from === 'item') {
    return (
      <p className="fork-where">
        The item <code>{draft.key}</code> runs again
        {draft.nodeId !== null && (
          <>
            , from <strong>{title(draft.nodeId)}</strong> on
          </>
        )}
        , with what follows from it. All other items are taken from the recording, and what gathers them gathers all of them anew, in their order.
      </p>
    );
  }
  if (!point) return <p className="fork-where">Event {formatCount(draft.position)}</p>;
  return (
    <>
      <p className="fork-where">
        At event <strong className="numbers">{formatCount(point.position)}</strong>, {formatClock(point.at)}: {happened(point, title)}
      </p>
      {point.place.type === 'failure' && <p className="fork-error">{point.place.data.message}</p>}
      {point.place.type !== 'nothing' && point.place.type !== 'failure' && point.place.data.type === 'cut' && (
        <p className="fork-note">The value is too large to be changed here. It can be forked as it is, or changed on the command line.</p>
      )}
    </>
  );
}

function happened({ place, node_id, key }: ForkPoint, title: (id: string) => string): ReactElement {
  const who = node_id === null ? null : <strong>{title(node_id)}</strong>;
  const item = key === '' ? null : <code> {key}</code>;
  switch (place.type) {
    case 'input':
      return <>the execution begins. Its input can be changed.</>;
    case 'context':
      return (
        <>
          {who}
          {item} begins. What it sees can be changed.
        </>
      );
    case 'output':
      return (
        <>
          {who}
          {item} has ended. What it puts out can be changed.
        </>
      );
    case 'failure':
      return (
        <>
          {who}
          {item} has failed. An output can be given in place of the error.
        </>
      );
    case 'nothing':
      return (
        <>
          {who ?? 'the execution'}
          {item} {node_id === null ? 'has ended' : 'rests or is woken'}. Nothing can be changed at this event; from here on nodes work again.
        </>
      );
  }
}
