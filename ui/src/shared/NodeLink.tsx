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
  /** The comma or full stop behind it, which stays with it. */
  end?: string;
}

/** A node named in a sentence; it leads there. */
export function NodeLink({ end = '', ...link }: Props): ReactElement {
  if (end === '') return <Link {...link} />;
  return (
    <span className="node-link-end">
      <Link {...link} />
      {end}
    </span>
  );
}

function Link({ node, nodeId, onSelect }: Omit<Props, 'end'>): ReactElement {
  if (!node) return <code>{nodeId}</code>;
  return (
    <button type="button" className="node-link" data-link={nodeId} onClick={() => onSelect(nodeId)}>
      <Icon name={kindIcon(node.type)} size={12} />
      <span className="node-link-text">{titleOf(node)}</span>
    </button>
  );
}
