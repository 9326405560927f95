/** Where a value is, written as the expression that reads it in a workflow. */
export type Step = string | number;

const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * `base` is the expression of the whole value, such as `$fetch`. An empty base means a context: its first step is a
 * reference of its own (`$fetch`, `$trigger`).
 */
export function expressionOf(base: string, steps: readonly Step[]): string {
  const [first, ...rest] = steps;
  if (base === '' && typeof first === 'string') {
    const root = first.startsWith('$') ? first : `$${first}`;
    return rest.reduce<string>(withStep, root);
  }
  return steps.reduce<string>(withStep, base === '' ? '$' : base);
}

/** The same place within the value alone, as the search for payloads reads it: `$.body.users[0]`. */
export function pathOf(steps: readonly Step[]): string {
  return steps.reduce<string>(withStep, '$');
}

function withStep(expression: string, step: Step): string {
  if (typeof step === 'number') return `${expression}[${step}]`;
  return WORD.test(step) ? `${expression}.${step}` : `${expression}[${JSON.stringify(step)}]`;
}

/** Names an open or closed place in the tree; steps may hold any character, so they are quoted. */
export function placeOf(steps: readonly Step[]): string {
  return JSON.stringify(steps);
}
