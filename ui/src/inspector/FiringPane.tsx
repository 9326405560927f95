import type { ReactElement } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import type { ShownState } from '../shared/shownState';
import { ComparedPayload } from './ComparedPayload';
import { ErrorPane } from './ErrorPane';
import { HttpLine } from './HttpLine';
import { InputPane } from './InputPane';
import { ParametersPane } from './ParametersPane';

export type Tab = 'parameters' | 'input' | 'output' | 'error' | 'why';

interface Props {
  tab: Tab;
  node: Node;
  firing: FiringView | null;
  /** All that are known of the node, to compare with. */
  firings: FiringView[];
  state: ShownState;
  loading: boolean;
}

export function FiringPane({ tab, node, firing, firings, state, loading }: Props): ReactElement | null {
  const fileName = firing === null ? node.id : `${node.id}-${firing.key === '' ? 'root' : firing.key}`;
  switch (tab) {
    case 'parameters':
      return <ParametersPane node={node} firing={firing} firings={firings} fileName={`${fileName}-parameters`} />;
    case 'input':
      return firing?.input ? (
        <InputPane node={node} firing={firing} firings={firings} input={firing.input} fileName={`${fileName}-input`} />
      ) : (
        <Nothing loading={loading} title="No input yet" state={state} />
      );
    case 'output':
      return firing?.output ? (
        <>
          {node.type === 'http' && <HttpLine payload={firing.output} />}
          <ComparedPayload
            key="output"
            part="output"
            node={node}
            firing={firing}
            firings={firings}
            payload={firing.output}
            base={`$${node.id}`}
            label="Output"
            fileName={`${fileName}-output`}
          />
        </>
      ) : (
        <Nothing loading={loading} title="No output yet" state={state} />
      );
    // Another feature knows the reasons.
    case 'why':
      return null;
    case 'error':
      return firing?.error ? <ErrorPane error={firing.error} attempts={firing.attempt} hint={firing.hint} /> : null;
  }
}

function Nothing({ loading, title, state }: { loading: boolean; title: string; state: ShownState }): ReactElement {
  if (loading) return <p className="inspector-loading">Loading…</p>;
  if (state === 'skipped') {
    return (
      <EmptyState icon="minus" title="This node was skipped">
        No branch that leads here was taken, so it saw nothing and produced nothing.
      </EmptyState>
    );
  }
  if (state === 'failed') {
    return (
      <EmptyState icon="error" title="Nothing here">
        The node failed before there was anything to show. The Error tab says why.
      </EmptyState>
    );
  }
  if (state === 'retrying') {
    return (
      <EmptyState icon="replay" title={title}>
        The last attempt failed, and the node is tried again. What failed so far is listed above.
      </EmptyState>
    );
  }
  if (state === 'waiting_barrier') {
    return (
      <EmptyState icon="aggregator" title="Still gathering">
        The node starts when everything it waits for has arrived.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="wait" title={title}>
      It appears here as soon as the node has finished.
    </EmptyState>
  );
}
