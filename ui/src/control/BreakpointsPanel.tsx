/** Everything that was set for this workflow: where it stops, what answers in place of nodes, and what logpoints have said. */
import { type ReactElement, useState } from 'react';
import { Button } from '../shared/Button';
import { plural } from '../shared/format';
import { removeAllBreakpoints } from '../state/control';
import { brokenOnes } from '../state/controlMarks';
import { useStore } from '../state/store';
import { BreakpointForm } from './BreakpointForm';
import { BreakpointRow } from './BreakpointRow';
import { LogLines } from './LogLines';
import { MockList } from './MockList';
import './control.css';

export function BreakpointsPanel(): ReactElement {
  const breakpoints = useStore((state) => state.control.controls.breakpoints);
  const view = useStore((state) => state.control.view);
  const [adding, setAdding] = useState(false);
  const [opened, setOpened] = useState<number | null>(null);
  const broken = brokenOnes(view);
  return (
    <div className="breaks" data-testid="breakpoints">
      <section className="breaks-part breaks-main" aria-label="Breakpoints">
        <header className="breaks-head">
          <h3>{breakpoints.length === 0 ? 'Breakpoints' : plural(breakpoints.length, 'breakpoint')}</h3>
          <Button icon="plus" data-testid="add-breakpoint" aria-expanded={adding} onClick={() => setAdding(!adding)}>
            Add
          </Button>
          {breakpoints.length > 1 && <Button onClick={removeAllBreakpoints}>Remove all</Button>}
        </header>
        {adding && <BreakpointForm index={null} breakpoint={null} onClose={() => setAdding(false)} />}
        {breakpoints.length === 0 && !adding && (
          <p className="breaks-none">
            Click the left or right side of a node, or press <kbd>F9</kbd> at it: a message that comes there is held, before anything has happened. Edges work too.
          </p>
        )}
        <ul>
          {breakpoints.map((breakpoint, index) => (
            <li key={index}>
              {opened === index ? (
                <BreakpointForm index={index} breakpoint={breakpoint} onClose={() => setOpened(null)} />
              ) : (
                <BreakpointRow breakpoint={breakpoint} index={index} hits={view?.hits[index] ?? null} complaint={broken.get(index) ?? null} onEdit={() => setOpened(index)} />
              )}
            </li>
          ))}
        </ul>
      </section>
      <div className="breaks-aside">
        <MockList />
        <LogLines />
      </div>
    </div>
  );
}
