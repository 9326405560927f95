/** The real window on a private display, driven through WebDriver. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from './eventually';
import { type Place, binary, makePlace } from './place';
import { Process, freePort } from './process';
import { WebDriver } from './webdriver';

export class DesktopStage {
  readonly place: Place;
  private readonly screen: Process;
  private readonly driver: Process;
  private readonly address: string;
  private current: WebDriver | null = null;

  private constructor(place: Place, screen: Process, driver: Process, address: string) {
    this.place = place;
    this.screen = screen;
    this.driver = driver;
    this.address = address;
  }

  static async open(): Promise<DesktopStage> {
    const place = makePlace();
    standIn(place);
    // Xvfb looks for a free display by itself and says which it found.
    const screen = new Process('Xvfb', ['-displayfd', '1', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp']);
    const display = await screen.says(/^(\d+)$/m);
    const port = await freePort();
    const driver = startDriver(port, display, place);
    await eventually('WebKitWebDriver to answer', 30_000, () => isUp(port), () => driver.output);
    return new DesktopStage(place, screen, driver, `http://127.0.0.1:${port}`);
  }

  /** The window, with what a person would write behind its name. */
  async start(args: string[]): Promise<WebDriver> {
    this.current = await WebDriver.open(this.address, binary('RUNEGLASS_DESKTOP', '../target/debug/runeglass-desktop'), args);
    return this.current;
  }

  get window(): WebDriver {
    if (this.current === null) throw new Error('The window was not started.');
    return this.current;
  }

  async stop(): Promise<void> {
    await this.current?.close();
    this.current = null;
  }

  async close(): Promise<void> {
    await this.stop().catch(() => undefined);
    await this.driver.end();
    await this.screen.end();
    this.place.remove();
  }

  soon<T>(what: string, look: () => Promise<T | null>, limitMillis = 20_000): Promise<T> {
    return eventually(what, limitMillis, look, () => this.situation());
  }

  shown(selector: string, limitMillis?: number): Promise<true> {
    const look = async (): Promise<true | null> => ((await this.window.run<boolean>('return document.querySelector(arguments[0]) !== null', selector)) ? true : null);
    return this.soon(`${selector} to be shown`, look, limitMillis);
  }

  attribute(selector: string, name: string): Promise<string | null> {
    return this.window.run('return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null', selector, name);
  }

  text(selector: string): Promise<string> {
    return this.window.run('return document.querySelector(arguments[0])?.textContent ?? ""', selector);
  }

  /** Of every node, by its id. */
  states(): Promise<{ [id: string]: string }> {
    return this.window.run(
      'return Object.fromEntries([...document.querySelectorAll("[data-testid^=node-][data-state]")].map((card) => [card.dataset.node, card.dataset.state]))',
    );
  }

  private async situation(): Promise<string> {
    const text = await this.window.run<string>('return document.body.innerText').catch(() => 'the window is gone');
    return `--- window\n${text.slice(0, 3_000)}\n--- driver\n${this.driver.output.slice(-3_000)}`;
  }
}

/** What the window asked the system to open, line by line. */
export function editedBy(place: Place): string {
  return join(dirname(place.store), 'edited');
}

const tools = (place: Place): string => join(dirname(place.store), 'bin');

/** In place of the system's editor: writes down what it was asked to open. */
function standIn(place: Place): void {
  mkdirSync(tools(place));
  writeFileSync(join(tools(place), 'xdg-open'), `#!/bin/sh\necho "$1" >> ${editedBy(place)}\n`);
  chmodSync(join(tools(place), 'xdg-open'), 0o755);
}

function startDriver(port: number, display: string, place: Place): Process {
  return new Process('WebKitWebDriver', ['--host=127.0.0.1', `--port=${port}`], {
    DISPLAY: `:${display}`,
    WAYLAND_DISPLAY: undefined,
    GDK_BACKEND: 'x11',
    // The private display belongs to no desktop session, so there is no bus to look for.
    NO_AT_BRIDGE: '1',
    PATH: `${tools(place)}:${process.env.PATH}`,
    // The window remembers its place and what was open; not those of the person who runs this.
    XDG_DATA_HOME: join(dirname(place.store), 'data'),
    TAURI_AUTOMATION: 'true',
    TAURI_WEBVIEW_AUTOMATION: 'true',
  });
}

async function isUp(port: number): Promise<true | null> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/status`, { signal: AbortSignal.timeout(1_000) })).ok ? true : null;
  } catch {
    return null;
  }
}
