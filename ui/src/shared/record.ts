/** Ids come from files: one may be called `constructor`, so only a record's own keys count. */
export function own<T>(record: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
