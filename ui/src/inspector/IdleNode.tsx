import { type ReactElement, useState } from 'react';
import type { Node } from '../generated/protocol';
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
  // A tab that would be empty by nature is absent.
  const asked = Object.keys(node.parameters).length > 0;
  const [tab, setTab] = useState<Tab>(asked ? 'parameters' : 'definition');
  const readOnly = useStore((state) => state.host.readOnly || state.runsOn === 'cluster');
  return (
    <>
      <NodeHeading node={node} state={<StateLabel state="idle" />} />
      <CredentialNote node={node} />
      <Tabs
        tabs={[
          ...(asked ? [{ id: 'parameters', label: 'Parameters' } as const] : []),
          { id: 'definition', label: 'Definition' },
        ]}
        active={tab}
        onSelect={setTab}
      >
        <Json
          key={tab}
          value={tab === 'parameters' ? node.parameters : withoutSecrets(node)}
          base={null}
          label={tab === 'parameters' ? 'Parameters' : 'Definition'}
        />
      </Tabs>
      {!readOnly && <p className="inspector-foot">Run the workflow to see input and output here.</p>}
    </>
  );
}
