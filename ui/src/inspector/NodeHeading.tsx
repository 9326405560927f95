import type { ReactElement } from 'react';
import type { Node } from '../generated/protocol';
import { Icon, kindIcon } from '../shared/icons';
import type { ShownState } from '../shared/shownState';
import { StateLabel } from '../shared/states';
import { titleOf } from '../shared/title';

export function NodeHeading({ node, state }: { node: Node; state: ShownState }): ReactElement {
  return (
    <div className="inspector-heading">
      <span className="inspector-kind">
        <Icon name={kindIcon(node.type)} size={18} />
      </span>
      <div className="inspector-names">
        <h2 title={titleOf(node)}>{titleOf(node)}</h2>
        <p>
          {node.type} · <code>${node.id}</code>
        </p>
      </div>
      <StateLabel state={state} />
    </div>
  );
}
