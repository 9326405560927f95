/** What a workflow is a story of, in a word each. */
import type { Workflow } from '../generated/protocol';
import { isStream, opensLevel } from '../shared/kinds';
import { scopesOf } from '../shared/scopes';

const MOST = 4;

export function traitsOf(definition: Workflow): string[] {
  const { nodes } = definition;
  const has = (...types: string[]): boolean => nodes.some(({ type }) => types.includes(type));
  const deepest = Math.max(0, ...[...scopesOf(definition).values()].map((scope) => scope.length));
  const traits: [boolean, string][] = [
    [nodes.some((node) => node.type === 'merge' && node.parameters['wait_mode'] === 'wait_for_any'), 'race'],
    [deepest > 1, 'nested fan-out'],
    [deepest <= 1 && nodes.some(({ type }) => opensLevel(type) && !isStream(type)), 'fan-out'],
    [nodes.some((node) => node.error?.type === 'branch' || Number(node.parameters['failure_rate'] ?? 0) > 0), 'failures'],
    [nodes.some((node) => Number(node.parameters['retry'] ?? 0) > 0), 'attempts'],
    [has('wait'), 'waits'],
    [has('conditional', 'switch', 'if', 'switch_value'), 'choices'],
    [has('zip', 'cross'), 'pairs'],
    [has('http', 'smtp'), 'the world outside'],
    [has('merge'), 'joins'],
  ];
  const found = traits.flatMap(([holds, trait]) => (holds ? [trait] : []));
  return found.slice(0, MOST);
}
