/** Every wait has a limit, and one that fails says what was there instead. */
const PAUSE_MILLIS = 40;

export async function eventually<T>(
  what: string,
  limitMillis: number,
  look: () => Promise<T | null> | T | null,
  describe: () => Promise<string> | string,
): Promise<T> {
  const deadline = Date.now() + limitMillis;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) {
      throw new Error(`Waited ${limitMillis} ms in vain for ${what}.\n${await describe()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLIS));
  }
}
