/** What the right side is about: its name, what it is, and how it stands. */
import type { ReactElement, ReactNode } from 'react';
import type { Node } from '../generated/protocol';
import { Icon, kindIcon } from './icons';
import { titleOf } from './title';
import './heading.css';

interface Props {
  title: string;
  /** What it is, in small print. */
  about: ReactNode;
  /** At the left of the names. */
  sign?: ReactNode;
  /** At the right of them. */
  aside?: ReactNode;
}

export function Heading({ title, about, sign, aside }: Props): ReactElement {
  return (
    <div className="heading">
      {sign}
      <div className="heading-names">
        <h2 title={title}>{title}</h2>
        <p>{about}</p>
      </div>
      {aside}
    </div>
  );
}

export function NodeHeading({ node, state, held = false }: { node: Node; state: ReactNode; held?: boolean }): ReactElement {
  const sign = (
    <span className={held ? 'heading-kind heading-held' : 'heading-kind'}>
      <Icon name={kindIcon(node.type)} size={18} />
    </span>
  );
  const about = (
    <>
      {node.type} · <code>${node.id}</code>
    </>
  );
  return <Heading title={titleOf(node)} about={about} sign={sign} aside={state} />;
}
