/** Which nodes a few letters name: by title, id, kind, or by a word in their parameters. */
import type { Node, Workflow } from '../generated/protocol';
import { titleOf } from '../shared/title';

interface Found {
  definition: Workflow | null;
  query: string;
  ids: string[];
}

const NOBODY: string[] = [];
/** Every card asks the same question, so the last answer is kept. */
let last: Found = { definition: null, query: '', ids: NOBODY };

export function foundNodes(definition: Workflow | null, search: string | null): string[] {
  const query = (search ?? '').trim().toLowerCase();
  if (definition === null || query === '') return NOBODY;
  if (last.definition !== definition || last.query !== query) {
    last = { definition, query, ids: definition.nodes.filter((node) => textOf(node).includes(query)).map(({ id }) => id) };
  }
  return last.ids;
}

const texts = new WeakMap<Node, string>();

function textOf(node: Node): string {
  const known = texts.get(node) ?? `${titleOf(node)}\n${node.id}\n${node.type}\n${JSON.stringify(node.parameters)}`.toLowerCase();
  texts.set(node, known);
  return known;
}
