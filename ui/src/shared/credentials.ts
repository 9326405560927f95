/** Credentials are referred to by name. Whatever else a file says about them has no place on a screen. */
import type { Credentials, Node } from '../generated/protocol';

/** What people call it, in the order in which it is looked up. */
export function credentialName({ ref, name, id }: Credentials): string {
  return ref ?? name ?? id ?? 'unnamed';
}

/** A node as its author wrote it, its credentials by name alone. */
export function withoutSecrets(node: Node): Node {
  return node.credentials ? { ...node, credentials: { ref: credentialName(node.credentials) } } : node;
}
