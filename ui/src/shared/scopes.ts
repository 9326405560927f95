/** Which fan-outs a node stands in: those between a node that spreads items and the one that gathers them. */
import type { Workflow } from '../generated/protocol';
import { closesLevel, isStream, opensLevel } from './kinds';

/** Deeper nesting is not looked into: a wrong file may hold a cycle, and around it there is no end of splits. */
const DEEPEST = 8;

const NONE: readonly string[] = [];

export type Scopes = ReadonlyMap<string, readonly string[]>;

const known = new WeakMap<Workflow, Scopes>();

/** The splits around each node that has any, outermost first. An aggregator speaks outside of the one it closes. */
export function scopesOf(workflow: Workflow): Scopes {
  const found = known.get(workflow) ?? computed(workflow);
  known.set(workflow, found);
  return found;
}

export function scopeOf(workflow: Workflow | null, nodeId: string): readonly string[] {
  return (workflow && scopesOf(workflow).get(nodeId)) ?? NONE;
}

export function splitsOf(workflow: Workflow | null): string[] {
  return (workflow?.nodes ?? []).filter((node) => opensLevel(node.type)).map((node) => node.id);
}

function computed({ nodes, edges }: Workflow): Scopes {
  const kinds = new Map(nodes.map((node) => [node.id, node.type]));
  const errorEdges = new Set(nodes.flatMap((node) => (node.error?.type === 'branch' ? [node.error.error_edge] : [])));
  const leaving = new Map<string, { target: string; isError: boolean }[]>();
  for (const { id, src, dst } of edges) {
    leaving.set(src, [...(leaving.get(src) ?? []), { target: dst, isError: errorEdges.has(id) }]);
  }
  const scopes = new Map<string, readonly string[]>();
  const open = nodes.filter((node) => opensLevel(node.type)).map((node) => node.id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const around = scopes.get(id) ?? NONE;
    for (const { target, isError } of leaving.get(id) ?? []) {
      const inside = opensLevel(kinds.get(id)) && !isError ? [...around, id] : around;
      const scope = closesLevel(kinds.get(target)) ? closed(inside, kinds) : inside;
      if (scope.length <= (scopes.get(target)?.length ?? 0) || scope.length > DEEPEST) continue;
      scopes.set(target, scope);
      open.push(target);
    }
  }
  return scopes;
}

/** Without the innermost fan-out, and without the streams of pieces around it. */
function closed(scope: readonly string[], kinds: ReadonlyMap<string, string>): readonly string[] {
  const last = scope.findLastIndex((id) => !isStream(kinds.get(id)));
  const left = scope.slice(0, Math.max(last, 0));
  return left.slice(0, left.findLastIndex((id) => !isStream(kinds.get(id))) + 1);
}
