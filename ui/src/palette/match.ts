/** How well some letters name a thing: all of them in their order, best at the beginnings of words and side by side. */
export function scoreOf(query: string, text: string): number | null {
  const letters = query.toLowerCase().replaceAll(' ', '');
  const inside = text.toLowerCase();
  if (letters === '') return 0;
  const whole = inside.indexOf(query.toLowerCase().trim());
  if (whole >= 0) return 1_000 - whole - text.length * 0.01;
  let score = 0;
  let from = 0;
  let last = -2;
  for (const letter of letters) {
    const at = inside.indexOf(letter, from);
    if (at < 0) return null;
    const begins = at === 0 || /[\s\-_./]/.test(inside[at - 1] ?? '');
    score += at === last + 1 ? 6 : begins ? 5 : 1;
    last = at;
    from = at + 1;
  }
  return score - text.length * 0.01;
}

/** The best first; where nothing was typed, as they come. */
export function bestOf<T extends { text: string; extra?: string }>(query: string, entries: readonly T[], most: number): T[] {
  if (query.trim() === '') return entries.slice(0, most);
  const scored = entries.flatMap((entry) => {
    const title = scoreOf(query, entry.text);
    const extra = entry.extra === undefined ? null : scoreOf(query, entry.extra);
    const score = Math.max(title ?? -Infinity, (extra ?? -Infinity) - 100);
    return score === -Infinity ? [] : [{ entry, score }];
  });
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}
