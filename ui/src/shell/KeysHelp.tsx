import { type ReactElement, useEffect, useRef } from 'react';
import { IconButton } from '../shared/Button';

const GROUPS: { title: string; keys: [string[], string][] }[] = [
  {
    title: 'Run',
    keys: [
      [['F5'], 'Run, if nothing runs'],
      [['Ctrl', 'Enter'], 'Run'],
      [['Shift', 'F5'], 'Stop'],
      [['Ctrl', 'Shift', 'F5'], 'Stop and run again'],
    ],
  },
  {
    title: 'Break and step',
    keys: [
      [['F9'], 'Breakpoint before the node'],
      [['Shift', 'F9'], 'Breakpoint after it'],
      [['F5'], 'Continue'],
      [['F6'], 'Pause'],
      [['F10'], 'Step; a fan-out is one step'],
      [['F11'], 'Step into the items'],
      [['Shift', 'F11'], 'Run the item to its barrier'],
      [['Ctrl', 'F10'], 'Run to the selected node'],
      [['Alt', 'F10'], 'One event back'],
      [['Alt', 'F5'], 'Back to the previous breakpoint'],
      [['P'], 'Pin the output, of this item'],
      [['Shift', 'P'], 'Pin it for every item'],
    ],
  },
  {
    title: 'Panels',
    keys: [
      [['Ctrl', 'B'], 'Library'],
      [['Ctrl', 'I'], 'Inspector'],
      [['Ctrl', 'J'], 'Bottom panel'],
      [['Ctrl', 'K'], 'Go to anything'],
      [['?'], 'This help'],
    ],
  },
  {
    title: 'Executions',
    keys: [
      [['↑', '↓'], 'Walk through the list'],
      [['C'], 'Compare with the open one'],
    ],
  },
  {
    title: 'Graph',
    keys: [
      [['←', '→'], 'Along the edges'],
      [['↑', '↓'], 'Within a column'],
      [['Enter'], 'Select the node'],
      [['Esc'], 'Clear the selection'],
      [['1'], 'Fit the graph'],
      [['0'], 'Zoom to 100 %'],
      [['+', '-'], 'Zoom'],
      [['F'], 'Find nodes, also Ctrl+F'],
      [['G'], 'Areas of fan-outs'],
    ],
  },
  {
    title: 'Timeline',
    keys: [
      [['Space'], 'Play, pause'],
      [['↑', '↓'], 'Faster, slower'],
      [['←', '→'], 'One event back, on'],
      [['Shift', '←', '→'], 'At the selected node'],
      [['Home'], 'The first event'],
      [['End'], 'Now'],
      [['M'], 'Bookmark the moment'],
      [['PgUp', 'PgDn'], 'From bookmark to bookmark'],
    ],
  },
  {
    title: 'JSON',
    keys: [
      [['↑', '↓'], 'Walk'],
      [['→', '←'], 'Open, close'],
      [['Ctrl', 'C'], 'Copy the value'],
      [['Ctrl', 'Shift', 'C'], 'Copy the path'],
      [['Ctrl', 'Alt', 'C'], 'Copy the expression'],
      [['T'], 'An array as a table'],
    ],
  },
];

export function KeysHelp({ onClose }: { onClose: () => void }): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="keys-help" aria-labelledby="keys-title" onClose={onClose} data-testid="keys-help">
      <div className="keys-head">
        <h2 id="keys-title">Keys</h2>
        <IconButton icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </div>
      <div className="keys-groups">
        {GROUPS.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map(([keys, meaning]) => (
                <div key={meaning}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
