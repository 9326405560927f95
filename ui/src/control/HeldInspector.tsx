/** The message that is held at the selected node: what it sees, what it asks, what came of it; and all of it can be changed. */
import { type ReactElement, useState } from 'react';
import type { HeldMessage, Node } from '../generated/protocol';
import { Button } from '../shared/Button';
import { CopyButton } from '../shared/CopyButton';
import { EmptyState } from '../shared/EmptyState';
import { keyWords, sideWords, whyWords } from '../shared/controlWords';
import { errorWord } from '../shared/errorWords';
import { formatBytes } from '../shared/format';
import { HeldLabel } from '../shared/HeldLabel';
import { NodeHeading } from '../shared/Heading';
import { Icon } from '../shared/icons';
import { textOf } from '../shared/json/JsonRow';
import { JsonView } from '../shared/json/JsonView';
import { type TabDescription, Tabs } from '../shared/Tabs';
import { editHeld } from '../state/control';
import { useStore } from '../state/store';
import { HeldActions } from './HeldActions';
import { Since } from './Since';
import { type HeldPart, editOf, isEditable, isProblem, partOf, startOf } from './edits';
import { PayloadEditor } from './PayloadEditor';

type Tab = HeldPart | 'error';

export function HeldInspector({ held, node }: { held: HeldMessage; node: Node }): ReactElement {
  return (
    <aside className="inspector held-inspector" aria-label="Held message" data-testid="held-inspector">
      <NodeHeading node={node} state={<HeldLabel />} held />
      <HeldFacts held={held} />
      <HeldActions />
      <Parts key={`${held.message_id} ${held.gate}`} held={held} node={node} />
    </aside>
  );
}

function HeldFacts({ held }: { held: HeldMessage }): ReactElement {
  const hidden = useStore((state) => state.preferences.presenter);
  return (
    <div className="held-facts">
      <p>
        <code className="held-key">{keyWords(held.key)}</code> {sideWords(held)}, <strong>{whyWords(held.why)}</strong>
        {held.attempt > 1 && <>, attempt {held.attempt}</>},{' '}
        <span className="held-time">
          <Since at={held.since} />
        </span>
        {held.edited && (
          <span className="held-edited" data-testid="held-edited">
            <Icon name="edit" size={12} /> edited
          </span>
        )}
      </p>
      {held.why.type === 'broken_condition' && <p className="held-complaint">{held.why.complaint}</p>}
      {held.asks !== null && (
        <p className="held-asks" data-testid="held-asks">
          <Icon name="http" size={14} /> asks {hidden ? 'the outside' : <code>{held.asks}</code>} when it goes on
        </p>
      )}
    </div>
  );
}

const WORDS: { [K in HeldPart]: { label: string; note: string } } = {
  parameters: { label: 'Parameters', note: 'All parameters, with their references resolved. The node works with these.' },
  context: { label: 'What it sees', note: 'Only the entries you change are set; the node is prepared anew with them.' },
  output: { label: 'Output', note: 'What the node has put out, before anybody has seen it.' },
};

function Parts({ held, node }: { held: HeldMessage; node: Node }): ReactElement {
  const [picked, setPicked] = useState<Tab | null>(null);
  const [editing, setEditing] = useState<HeldPart | null>(null);
  /** Who has left the editor goes on where they came from. */
  const [returned, setReturned] = useState(false);
  const parts: HeldPart[] = held.gate === 'after' ? ['output', 'parameters', 'context'] : ['parameters', 'context'];
  const tabs: TabDescription<Tab>[] = parts.filter((part) => part !== 'output' || held.error === null).map((id) => ({ id, label: WORDS[id].label }));
  if (held.error) tabs.unshift({ id: 'error', label: 'Error', alarming: true });
  const active = tabs.find(({ id }) => id === picked)?.id ?? tabs[0]?.id ?? 'parameters';
  const pick = (tab: Tab): void => {
    setPicked(tab);
    setReturned(false);
  };
  const leave = (): void => {
    setEditing(null);
    setReturned(true);
  };
  if (editing !== null) return <Editing held={held} part={editing} onClose={leave} />;
  return (
    <Tabs tabs={tabs} active={active} onSelect={pick} label="Of the held message">
      {active === 'error' ? (
        held.error && (
          <div className="held-error">
            <p className="held-error-code">
              <Icon name="error" /> {errorWord(held.error.code)}
            </p>
            <p>{held.error.message}</p>
          </div>
        )
      ) : (
        <Part held={held} part={active} node={node} returned={returned} onEdit={() => setEditing(active)} />
      )}
    </Tabs>
  );
}

interface PartProps {
  held: HeldMessage;
  part: HeldPart;
  node: Node;
  returned: boolean;
  onEdit: () => void;
}

function Part({ held, part, node, returned, onEdit }: PartProps): ReactElement {
  const hidden = useStore((state) => state.preferences.presenter);
  const payload = partOf(held, part);
  const edit = isEditable(held, part) && (
    <Button icon="edit" className="held-edit" autoFocus={returned} data-testid={`edit-${part}`} onClick={onEdit}>
      Edit
    </Button>
  );
  if (hidden) {
    return (
      <EmptyState icon="eye" title="Values are hidden">
        Leave presenter mode to see and change them.
      </EmptyState>
    );
  }
  if (payload === null) {
    return (
      <EmptyState icon="braces" title={part === 'parameters' ? 'They could not be resolved' : 'Nothing here'} action={edit || undefined}>
        {part === 'parameters' ? 'A reference leads nowhere, so the node will fail. Change what it sees, or give the parameters.' : 'There is no such value.'}
      </EmptyState>
    );
  }
  const size = <span className="numbers held-size">{formatBytes(payload.data.bytes)}</span>;
  if (payload.type === 'cut') {
    return (
      <div className="held-cut">
        <p>
          Too large to show as a whole: {size}. {edit}
        </p>
        <pre tabIndex={0}>{payload.data.text}</pre>
      </div>
    );
  }
  const { json } = payload.data;
  const aside = (
    <span className="payload-bar">
      {size}
      <CopyButton label="Copy all" text={() => textOf(json)} />
      {edit}
    </span>
  );
  return <JsonView value={json} base={part === 'output' ? `$${node.id}` : part === 'context' ? '' : null} label={WORDS[part].label} aside={aside} />;
}

function Editing({ held, part, onClose }: { held: HeldMessage; part: HeldPart; onClose: () => void }): ReactElement {
  // What was there when the writing began: it is held, so nothing changes it meanwhile.
  const [start] = useState(() => startOf(partOf(held, part), part));
  const whole = partOf(held, part)?.type === 'whole';
  return (
    <PayloadEditor
      label={WORDS[part].label}
      value={start}
      note={whole ? WORDS[part].note : 'Too large to edit as a whole: what you write here is set, and the rest stays as it is.'}
      onApply={async (value) => {
        const edit = editOf(part, whole ? start : {}, value);
        return isProblem(edit) ? edit : editHeld(held, edit);
      }}
      onClose={onClose}
    />
  );
}
