import type { Node } from '../generated/protocol';

export function titleOf(node: Node): string {
  return node.name !== undefined && node.name.trim() !== '' ? node.name : node.id;
}
