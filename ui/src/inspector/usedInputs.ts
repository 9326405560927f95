/** Which values a node reads, and where each of them comes from: from its parameters as written and from its inputs. */
import type { Node, Workflow } from '../generated/protocol';
import { type Step, expressionOf } from '../shared/json/path';
import { childrenOf } from '../shared/json/rows';
import { opensLevel } from '../shared/kinds';
import { scopeOf } from '../shared/scopes';
import { titleOf } from '../shared/title';

export interface UsedInput {
  /** As it is written, such as `$fetch.body.users[0]`. */
  expression: string;
  /** The first name, without the dollar. */
  root: string;
  /** What follows it. */
  steps: Step[];
  /** The parameters it stands in; empty for an input that no parameter names. */
  usedIn: string[];
  /** The node that made it; null where that cannot be told from the file. */
  from: string | null;
  /** Where it may stand in the context the node saw, the likeliest first. */
  ways: Step[][];
}

const REFERENCE = /\$([A-Za-z_][\w-]*)((?:\.[A-Za-z_]\w*|\[\d+\]|\["[^"\]]*"\])*)(\s*\()?/g;
const STEP = /\.([A-Za-z_]\w*)|\[(\d+)\]|\["([^"\]]*)"\]/g;
const DEEPEST = 32;

export function usedInputs(node: Node, definition: Workflow | null): UsedInput[] {
  const found = new Map<string, UsedInput>();
  for (const { text, place } of textsOf(node.parameters)) {
    for (const match of text.matchAll(REFERENCE)) addReference(found, match, place, node, definition);
  }
  const named = (definition?.edges ?? []).filter((edge) => edge.dst === node.id && edge.target_handle !== undefined && edge.target_handle !== '');
  for (const { target_handle: handle = '', src } of named) {
    const read = [...found.values()].some(({ root, steps }) => root === 'inputs' && steps[0] === handle);
    const expression = expressionOf('$inputs', [handle]);
    const ways = waysOf('inputs', [handle], node, definition);
    if (!read) found.set(expression, { expression, root: 'inputs', steps: [handle], usedIn: [], from: src, ways });
  }
  return [...found.values()];
}

/** A method that is called on a value is no part of the way to it. */
function addReference(found: Map<string, UsedInput>, match: RegExpMatchArray, place: string, node: Node, definition: Workflow | null): void {
  const { root, rest } = knownRoot(match[1] ?? '', definition);
  const all = rest === '' ? stepsOf(match[2] ?? '') : [];
  const called = match[3] !== undefined && rest === '' && all.length > 0;
  const steps = called ? all.slice(0, -1) : all;
  const viaNode = root === 'node' && typeof steps[0] === 'string';
  const expression = expressionOf(`$${root}`, steps);
  const known = found.get(expression);
  if (known) {
    if (!known.usedIn.includes(place)) known.usedIn.push(place);
    return;
  }
  const from = viaNode ? nodeNamed(String(steps[0]), definition) : sourceOf(root, steps, node, definition);
  found.set(expression, { expression, root, steps, usedIn: [place], from, ways: waysOf(root, steps, node, definition) });
}

/** Ids may hold dashes, and an expression may subtract: the longest name that is one counts. */
function knownRoot(name: string, definition: Workflow | null): { root: string; rest: string } {
  const parts = name.split('-');
  for (let length = parts.length; length > 1; length -= 1) {
    const root = parts.slice(0, length).join('-');
    if (nodeNamed(root, definition) !== null) return { root, rest: parts.slice(length).join('-') };
  }
  return { root: parts[0] ?? '', rest: parts.slice(1).join('-') };
}

function stepsOf(text: string): Step[] {
  return [...text.matchAll(STEP)].map(([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? '') : Number(index)));
}

function sourceOf(root: string, steps: Step[], node: Node, definition: Workflow | null): string | null {
  const into = (definition?.edges ?? []).filter((edge) => edge.dst === node.id);
  switch (root) {
    case 'trigger':
      return definition?.nodes.find((each) => each.type === 'trigger' || each.trigger === true)?.id ?? null;
    case 'item':
    case 'index':
      return scopeOf(definition, node.id).at(-1) ?? null;
    case 'inputs':
      return into.find((edge) => edge.target_handle === steps[0])?.src ?? null;
    case 'json':
      return into.length === 1 ? (into[0]?.src ?? null) : null;
    default:
      return nodeNamed(root, definition);
  }
}

function nodeNamed(name: string, definition: Workflow | null): string | null {
  const nodes = definition?.nodes ?? [];
  return (nodes.find((each) => each.id === name) ?? nodes.find((each) => titleOf(each) === name))?.id ?? null;
}

/** Every text of the parameters, with the name of its place. */
function textsOf(parameters: unknown): { text: string; place: string }[] {
  const texts: { text: string; place: string }[] = [];
  const look = (value: unknown, steps: Step[]): void => {
    if (typeof value === 'string') texts.push({ text: value, place: expressionOf('', steps).slice(1) });
    else if (steps.length < DEEPEST) for (const [step, child] of childrenOf(value)) look(child, [...steps, step]);
  };
  look(parameters, []);
  return texts;
}

export type Read = { type: 'value'; value: unknown } | { type: 'absent' };

/** Looks a used input up in the context the node saw. */
export function readFrom(context: unknown, { ways }: Pick<UsedInput, 'ways'>): Read {
  for (const way of ways) {
    const found = walk(context, way);
    if (found.type === 'value') return found;
  }
  return { type: 'absent' };
}

/** A context is told by nodes; a named input is what its edge brings: an item, one output of a node, or all of it. */
function waysOf(root: string, steps: Step[], node: Node, definition: Workflow | null): Step[][] {
  const both = (name: string, rest: readonly Step[]): Step[][] => [
    [`$${name}`, ...rest],
    [name, ...rest],
  ];
  if (root === 'node') return both(String(steps[0] ?? ''), steps.slice(1));
  const edge = root === 'inputs' ? definition?.edges.find((each) => each.dst === node.id && each.target_handle === steps[0]) : undefined;
  if (!edge) return both(root, steps);
  const source = definition?.nodes.find((each) => each.id === edge.src);
  const rest = steps.slice(1);
  const item = opensLevel(source?.type) ? both('item', rest) : [];
  const handle = edge.source_handle;
  return [...both('inputs', steps), ...item, ...(handle === undefined ? [] : both(edge.src, [handle, ...rest])), ...both(edge.src, rest)];
}

function walk(value: unknown, steps: readonly Step[]): Read {
  let here = value;
  for (const step of steps) {
    if (here === null || (typeof here !== 'object' && typeof here !== 'string') || !Object.hasOwn(Object(here) as object, step)) return { type: 'absent' };
    here = (Object(here) as { [key: string]: unknown })[step];
  }
  return { type: 'value', value: here };
}
