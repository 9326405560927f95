/** Forks as the lines of a tree. */
import type { ForkBranch, Origin } from '../generated/protocol';

export interface Branch {
  id: string;
  depth: number;
  origin: Origin | null;
}

/** Each below the one it comes from, in the order in which they were made. */
export function treeOf(branches: readonly ForkBranch[]): Branch[] {
  const ids = new Set(branches.map((each) => each.execution_id));
  const below = (parent: string, depth: number): Branch[] =>
    branches.filter((each) => each.origin?.parent === parent).flatMap((each) => line(each, depth));
  const line = ({ execution_id: id, origin }: ForkBranch, depth: number): Branch[] => [{ id, depth, origin }, ...below(id, depth + 1)];
  return branches.filter((each) => each.origin === null || !ids.has(each.origin.parent)).flatMap((each) => line(each, 0));
}
