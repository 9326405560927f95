/** The centre: the graph of what is open, or a word about why there is none. */
import { ReactFlowProvider } from '@xyflow/react';
import { type ReactElement, useMemo, useRef } from 'react';
import { EmptyState } from '../shared/EmptyState';
import { isLeft, shownDefinition, shownEntry } from '../state/selectors';
import { useStore } from '../state/store';
import { Flow } from './Flow';
import { HighlightChip } from './HighlightChip';
import { ItemChip } from './ItemChip';
import { FileNotes } from './FileNotes';
import { GraphSearch } from './GraphSearch';
import { LeftChip } from './LeftChip';
import { PastChip } from './PastChip';
import { NodeList } from './NodeList';
import { graphOf } from './graph';
import { useLayout, useWidth } from './layout/useLayout';
import './canvas.css';

export function Canvas(): ReactElement {
  const definition = useStore(shownDefinition);
  const graph = useMemo(() => (definition ? graphOf(definition) : null), [definition]);
  const section = useRef<HTMLElement>(null);
  const layout = useLayout(graph, useWidth(section));
  const look = useStore((state) => (state.past !== null ? 'canvas canvas-past' : isLeft(state) ? 'canvas canvas-left' : 'canvas'));

  return (
    <section ref={section} className={look} aria-label="Graph">
      {graph && layout && graph.nodes.length > 0 ? (
        <ReactFlowProvider>
          <Flow graph={graph} layout={layout} />
        </ReactFlowProvider>
      ) : (
        <Absent arranging={graph !== null && graph.nodes.length > 0} empty={graph?.nodes.length === 0} />
      )}
      <FileNotes />
      <ItemChip />
      <HighlightChip />
      <PastChip />
      <LeftChip />
      <GraphSearch />
      {definition && <NodeList definition={definition} />}
    </section>
  );
}

function Absent({ arranging, empty }: { arranging: boolean; empty: boolean }): ReactElement | null {
  const open = useStore((state) => state.open);
  const ready = useStore((state) => state.ready);
  const entry = useStore(shownEntry);
  if (!ready) return null;
  if (arranging || (open.type === 'execution' && open.view === null)) {
    return <p className="canvas-note">{arranging ? 'Arranging the graph…' : 'Opening the execution…'}</p>;
  }
  return (
    <EmptyState icon="file" title={empty ? 'This workflow has no nodes' : 'This file cannot be drawn'}>
      {empty
        ? 'Add a node to the file and save it; the graph appears here by itself.'
        : `${entry?.path ?? 'The file'} could not be read as a workflow. The problems below say where; save the file and it is read again.`}
    </EmptyState>
  );
}
