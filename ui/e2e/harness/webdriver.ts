/** As much of WebDriver as the desktop test needs, over plain fetch. */
import { writeFileSync } from 'node:fs';

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const CALL_LIMIT_MILLIS = 30_000;

/** The code points WebDriver has for keys without a letter. */
const KEYS: { [name: string]: string } = { Shift: '\uE008', Control: '\uE009', F5: '\uE035', F6: '\uE036', F9: '\uE039', F10: '\uE03A', F11: '\uE03B' };

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class WebDriver {
  private readonly base: string;

  private constructor(base: string) {
    this.base = base;
  }

  static async open(address: string, binary: string, args: string[]): Promise<WebDriver> {
    const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { binary, args } } };
    const session = await send<{ sessionId: string }>('POST', `${address}/session`, { capabilities });
    return new WebDriver(`${address}/session/${session.sessionId}`);
  }

  /** The body of a function; it gets `args` as `arguments`. */
  run<T>(script: string, ...args: unknown[]): Promise<T> {
    return send<T>('POST', `${this.base}/execute/sync`, { script, args });
  }

  async click(selector: string): Promise<void> {
    const element = await send<{ [ELEMENT]: string }>('POST', `${this.base}/element`, {
      using: 'css selector',
      value: selector,
    });
    // A list inside the page is not scrolled by the driver.
    await this.run('document.querySelector(arguments[0]).scrollIntoView({ block: "nearest" })', selector);
    await send('POST', `${this.base}/element/${element[ELEMENT]}/click`, {});
  }

  /** Keys as people press them, the first ones held down while the last one is pressed. */
  async press(...keys: string[]): Promise<void> {
    const values = keys.map((key) => KEYS[key] ?? key);
    const actions = [...values.map((value) => ({ type: 'keyDown', value })), ...values.toReversed().map((value) => ({ type: 'keyUp', value }))];
    await send('POST', `${this.base}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] });
  }

  async screenshot(path: string): Promise<void> {
    writeFileSync(path, Buffer.from(await send<string>('GET', `${this.base}/screenshot`), 'base64'));
  }

  /** Where the window is, and how large. */
  place(): Promise<Rect> {
    return send('GET', `${this.base}/window/rect`);
  }

  async moveTo(rect: Rect): Promise<void> {
    await send('POST', `${this.base}/window/rect`, rect);
  }

  async close(): Promise<void> {
    await send('DELETE', this.base);
  }
}

async function send<T>(method: string, url: string, body?: unknown): Promise<T> {
  const answer = await fetch(url, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_LIMIT_MILLIS),
  });
  const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } };
  if (!answer.ok) throw new Error(`WebDriver refused ${method} ${new URL(url).pathname}: ${value.error}: ${value.message}`);
  return value;
}
