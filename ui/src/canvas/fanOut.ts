/** Which nodes may fire many times: those between a node that spreads items and the one that gathers them. */
import type { Workflow } from '../generated/protocol';
import { closesLevel, opensLevel } from '../shared/kinds';

/** Deeper nesting is counted as this deep: a wrong file may hold a cycle, and around it there is no end of splits. */
const DEEPEST = 8;

export function fannedOutNodes({ nodes, edges }: Workflow): ReadonlySet<string> {
  const kinds = new Map(nodes.map((node) => [node.id, node.type]));
  const targets = new Map<string, string[]>();
  for (const { src, dst } of edges) targets.set(src, [...(targets.get(src) ?? []), dst]);
  const depths = new Map<string, number>();
  const open = nodes.filter((node) => opensLevel(node.type)).map((node) => node.id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const inside = (depths.get(id) ?? 0) + (opensLevel(kinds.get(id)) ? 1 : 0);
    for (const target of targets.get(id) ?? []) {
      const depth = Math.min(inside - (closesLevel(kinds.get(target)) ? 1 : 0), DEEPEST);
      if (depth <= (depths.get(target) ?? 0)) continue;
      depths.set(target, depth);
      open.push(target);
    }
  }
  return new Set(depths.keys());
}
