import { type ReactElement, useState } from 'react';
import type { Node } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { withoutSecrets } from '../shared/credentials';
import { NodeHeading } from '../shared/Heading';
import { StateLabel } from '../shared/states';
import { Tabs } from '../shared/Tabs';
import { useStore } from '../state/store';
import { CredentialNote } from './CredentialNote';
import { Json } from './Json';

type Tab = 'parameters' | 'definition';

/** A node of a file: nothing has happened, so there are only the words of its author. */
export function IdleNode({ node }: { node: Node }): ReactElement {
  const [tab, setTab] = useState<Tab>('parameters');
  const readOnly = useStore((state) => state.host.readOnly || state.runsOn === 'cluster');
  return (
    <>
      <NodeHeading node={node} state={<StateLabel state="idle" />} />
      <CredentialNote node={node} />
      <Tabs
        tabs={[
          { id: 'parameters', label: 'Parameters' },
          { id: 'definition', label: 'Definition' },
        ]}
        active={tab}
        onSelect={setTab}
      >
        {tab === 'parameters' && Object.keys(node.parameters).length === 0 ? (
          <EmptyState icon="braces" title="No parameters">
            This node needs none.
          </EmptyState>
        ) : (
          <Json
            key={tab}
            value={tab === 'parameters' ? node.parameters : withoutSecrets(node)}
            base={null}
            label={tab === 'parameters' ? 'Parameters' : 'Definition'}
          />
        )}
      </Tabs>
      {!readOnly && <p className="inspector-foot">Run the workflow to see input and output here.</p>}
    </>
  );
}
