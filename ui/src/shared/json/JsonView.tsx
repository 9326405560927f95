/** A value as a tree, and each array of objects in it as a table. */
import { type ComponentProps, type KeyboardEvent, type ReactElement, useState } from 'react';
import { IconButton } from '../Button';
import { plural } from '../format';
import { JsonTable } from './JsonTable';
import { JsonTree } from './JsonTree';
import { type Step, pathOf } from './path';
import { isTable, valueAt } from './table';

type Props = Omit<ComponentProps<typeof JsonTree>, 'onTable'>;

export function JsonView({ value, aside, ...rest }: Props): ReactElement {
  const [steps, setSteps] = useState<readonly Step[] | null>(null);
  const rows = steps === null ? null : valueAt(value, steps);
  // What was a table may be gone from the next value.
  if (steps !== null && isTable(rows)) {
    const list = rows as unknown[];
    const leave = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      setSteps(null);
    };
    return (
      <div className="json-tree" onKeyDown={leave} data-testid="json-table">
        <div className="json-search">
          <IconButton icon="tree" label="Back to the tree (Esc)" autoFocus onClick={() => setSteps(null)} />
          <code className="json-crumb">{pathOf(steps)}</code>
          <span className="json-count">{plural(list.length, 'row')}</span>
        </div>
        <JsonTable rows={list} label={`${rest.label}, ${pathOf(steps)} as a table`} />
      </div>
    );
  }
  const whole = isTable(value) ? <IconButton icon="table" label="Show as a table (T)" onClick={() => setSteps([])} /> : null;
  return (
    <JsonTree
      {...rest}
      value={value}
      onTable={setSteps}
      aside={
        <>
          {whole}
          {aside}
        </>
      }
    />
  );
}
