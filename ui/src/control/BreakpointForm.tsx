/** Where it stops and when: the place, what has to be true of the message, and what it says instead of holding. */
import { type FormEvent, type KeyboardEvent, type ReactElement, useId, useState } from 'react';
import type { BreakPlace, Breakpoint, Problem, Workflow } from '../generated/protocol';
import { Button } from '../shared/Button';
import { PLACE_WORDS, type Side, edgeTitle } from '../shared/controlWords';
import { Icon } from '../shared/icons';
import { titleOf } from '../shared/title';
import { conditionFrom } from '../state/breakpoints';
import { addBreakpoint, changeBreakpoint } from '../state/control';
import { shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';

interface Props {
  /** Null for a new one. */
  index: number | null;
  breakpoint: Breakpoint | null;
  onClose: () => void;
}

interface Draft {
  side: Side;
  target: string;
  condition: string;
  item: string;
  hits: string;
  log: string;
}

const SIDES: Side[] = ['before', 'after', 'edge', 'error', 'barrier'];

export function BreakpointForm({ index, breakpoint, onClose }: Props): ReactElement {
  const id = useId();
  const definition = useStore(shownDefinition);
  const [draft, setDraft] = useState(() => draftOf(breakpoint, useStore.getState().selectedNode, definition));
  const [problem, setProblem] = useState<Problem | null>(null);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const keep = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = breakpointOf(draft, breakpoint);
    const refused = await (index === null ? addBreakpoint(wanted) : changeBreakpoint(index, wanted));
    setProblem(refused);
    if (!refused) onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
  };
  const field = (name: keyof Draft, label: string, more: { placeholder: string; type?: string; wide?: boolean; code?: boolean }): ReactElement => (
    <label className={more.wide ? 'break-field break-field-wide' : 'break-field'} htmlFor={`${id}-${name}`}>
      <span>{label}</span>
      <input
        id={`${id}-${name}`}
        className={more.code ? 'break-code' : undefined}
        type={more.type ?? 'text'}
        min={0}
        value={draft[name]}
        placeholder={more.placeholder}
        data-testid={`break-${name}`}
        onChange={(event) => change({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <form className="break-form" aria-label={index === null ? 'New breakpoint' : `Breakpoint ${index + 1}`} data-testid="breakpoint-form" onSubmit={(event) => void keep(event)} onKeyDown={onKeyDown}>
      <label className="break-field" htmlFor={`${id}-side`}>
        <span>Stops</span>
        <select id={`${id}-side`} value={draft.side} data-testid="break-side" onChange={(event) => change(movedTo(event.target.value as Side, draft, definition))}>
          {SIDES.map((side) => (
            <option key={side} value={side}>
              {PLACE_WORDS[side]}
            </option>
          ))}
        </select>
      </label>
      <label className="break-field" htmlFor={`${id}-target`}>
        <span>{draft.side === 'edge' ? 'Edge' : 'Node'}</span>
        <select id={`${id}-target`} value={draft.target} data-testid="break-target" onChange={(event) => change({ target: event.target.value })}>
          {targetsOf(draft.side, definition).map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {field('condition', 'If', { placeholder: '$item.total > 100', wide: true, code: true })}
      {field('item', 'Item', { placeholder: 'any', type: 'number' })}
      {field('hits', 'From hit', { placeholder: '1', type: 'number' })}
      {field('log', 'Only say', { placeholder: 'n is $item.n (holds nothing)', wide: true })}
      <div className="break-buttons">
        {problem && (
          <p className="break-complaint" role="alert" data-testid="break-refused">
            <Icon name="error" size={14} /> {problem.message} <span>{problem.hint}</span>
          </p>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" data-testid="keep-breakpoint">
          {index === null ? 'Set' : 'Keep'}
        </Button>
      </div>
    </form>
  );
}

function draftOf(breakpoint: Breakpoint | null, selected: string | null, definition: Workflow | null): Draft {
  if (!breakpoint) return { side: 'before', target: selected ?? definition?.nodes[0]?.id ?? '', condition: '', item: '', hits: '', log: '' };
  const { place, condition, item, hits, log } = breakpoint;
  return {
    side: place.type,
    target: place.type === 'edge' ? place.edge_id : (place.node_id ?? ''),
    condition: condition ?? '',
    item: numberText(item),
    hits: numberText(hits),
    log: log ?? '',
  };
}

function numberText(number: number | null | undefined): string {
  return (number ?? null) === null ? '' : String(number);
}

/** An edge is no node: what was chosen there does not fit here. */
function movedTo(side: Side, draft: Draft, definition: Workflow | null): Partial<Draft> {
  const fits = targetsOf(side, definition).some(({ value }) => value === draft.target);
  return fits ? { side } : { side, target: targetsOf(side, definition)[0]?.value ?? '' };
}

function targetsOf(side: Side, definition: Workflow | null): { value: string; text: string }[] {
  if (side === 'edge') return (definition?.edges ?? []).map(({ id }) => ({ value: id, text: edgeTitle(definition, id) }));
  const nodes = (definition?.nodes ?? []).map((node) => ({ value: node.id, text: titleOf(node) }));
  if (side === 'error') return [{ value: '', text: 'any node' }, ...nodes];
  return side === 'barrier' ? [{ value: '', text: 'any join' }, ...nodes] : nodes;
}

export function breakpointOf(draft: Draft, before: Breakpoint | null): Breakpoint {
  const written = conditionFrom(draft.condition);
  const item = draft.item.trim() === '' ? written.item : Number(draft.item);
  return {
    place: placeOf(draft),
    ...(written.condition ? { condition: written.condition } : {}),
    ...((item ?? null) === null ? {} : { item }),
    ...(before?.key ? { key: before.key } : {}),
    ...(draft.hits.trim() === '' ? {} : { hits: Number(draft.hits) }),
    ...(draft.log.trim() === '' ? {} : { log: draft.log }),
    ...(before?.disabled ? { disabled: true } : {}),
  };
}

function placeOf({ side, target }: Draft): BreakPlace {
  switch (side) {
    case 'edge':
      return { type: 'edge', edge_id: target };
    case 'before':
    case 'after':
      return { type: side, node_id: target };
    case 'error':
    case 'barrier':
      return target === '' ? { type: side } : { type: side, node_id: target };
  }
}
