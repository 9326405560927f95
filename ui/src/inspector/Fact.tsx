import type { ReactElement, ReactNode } from 'react';

interface Props {
  name: string;
  /** Has a line for itself. */
  wide?: boolean;
  children: ReactNode;
}

/** One name with its value, in a list of facts. */
export function Fact({ name, wide = false, children }: Props): ReactElement {
  return (
    <div className={wide ? 'fact fact-wide' : 'fact'}>
      <dt>{name}</dt>
      <dd className="numbers">{children}</dd>
    </div>
  );
}
