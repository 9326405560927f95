import type { ReactElement, ReactNode } from 'react';

/** One name with its value, in a list of facts. */
export function Fact({ name, children }: { name: string; children: ReactNode }): ReactElement {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd className="numbers">{children}</dd>
    </div>
  );
}
