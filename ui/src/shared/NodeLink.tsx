import type { ReactElement } from 'react';
import type { Node } from '../generated/protocol';
import { Icon, kindIcon } from './icons';
import { titleOf } from './title';
import './words.css';

interface Props {
  /** Null where the graph has no such node any more; then there is only its id. */
  node: Node | null;
  nodeId: string;
  onSelect: (nodeId: string) => void;
}

/** A node named in a sentence; it leads there. */
export function NodeLink({ node, nodeId, onSelect }: Props): ReactElement {
  if (!node) return <code>{nodeId}</code>;
  return (
    <button type="button" className="node-link" data-link={nodeId} onClick={() => onSelect(nodeId)}>
      <Icon name={kindIcon(node.type)} size={12} />
      <span className="node-link-text">{titleOf(node)}</span>
    </button>
  );
}
