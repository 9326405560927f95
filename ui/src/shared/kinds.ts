/** What kinds of nodes do to the levels around them: some spread items, some gather them, some do both. */
const OPENS = new Set(['split', 'for_each', 'lines', 'batch', 'zip', 'cross']);
const CLOSES = new Set(['aggregator', 'collect', 'last', 'count', 'batch', 'zip', 'cross']);

export function opensLevel(kind: string | undefined): boolean {
  return kind !== undefined && OPENS.has(kind);
}

export function closesLevel(kind: string | undefined): boolean {
  return kind !== undefined && CLOSES.has(kind);
}

/** What it spreads are pieces of one value: they have an order, and no level of their own. */
export function isStream(kind: string | undefined): boolean {
  return kind === 'lines';
}
