/** A host, a browser and a page in front of it, for one file of tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, type Page, chromium } from 'playwright-core';
import { eventually } from './eventually';
import { openPage } from './freshUi';
import { type Place, binary, makePlace } from './place';
import { Process } from './process';

export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export const RUN_LIMIT_MILLIS = 60_000;
/** How long frames are counted. */
export const FRAMES_SECONDS = 2;

export const byId = (id: string): string => `[data-testid="${id}"]`;

/** Pictures of a scene in every size and theme take longer than most tests do, so they are for who names a folder for them. */
export function picturesWanted(): boolean {
  return process.env.RUNEGLASS_SHOTS !== undefined;
}

const USUAL_LOOK = { colorScheme: 'light', contrast: 'no-preference', forcedColors: 'none' } as const;
/** As the system can ask for: the last one takes all colours but its own away. */
const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  contrast: { contrast: 'more' },
  forced: { colorScheme: 'dark', forcedColors: 'active' },
} as const;

/** Where the store lies: a small one is full after a second of work. */
type Disk = 'usual' | 'small';

export class Stage {
  readonly place: Place;
  readonly page: Page;
  /** What the page complained about. */
  readonly complaints: string[] = [];
  private readonly server: Process;
  private readonly browser: Browser;

  private constructor(place: Place, server: Process, browser: Browser, page: Page) {
    this.place = place;
    this.server = server;
    this.browser = browser;
    this.page = page;
    page.setDefaultTimeout(20_000);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${message.text()} ${message.location().url}`);
    });
  }

  /** `workflows` are written into the folder beside the samples, by file name. */
  static async open(workflows: { [file: string]: unknown } = {}, disk: Disk = 'usual'): Promise<Stage> {
    const place = makePlace();
    for (const [file, workflow] of Object.entries(workflows)) {
      writeFileSync(join(place.workflows, file), JSON.stringify(workflow, null, 2));
    }
    const program = binary('RUNEGLASS_BIN', '../target/debug/runeglass');
    const server = disk === 'small' ? onSmallDisk(program, place) : new Process(program, serving(place.workflows, place.store));
    const url = await server.says(/(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/);
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    const stage = new Stage(place, server, browser, page);
    await openPage(page, url);
    return stage;
  }

  /** The host is gone from one moment to the next, and the page stays. */
  crashHost(): void {
    this.server.crash();
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.end();
    this.place.remove();
  }

  soon<T>(what: string, look: () => Promise<T | null>, limitMillis = 20_000): Promise<T> {
    return eventually(what, limitMillis, look, () => this.situation());
  }

  shown(selector: string, limitMillis?: number): Promise<true> {
    const look = async (): Promise<true | null> => ((await this.page.locator(selector).first().isVisible()) ? true : null);
    return this.soon(`${selector} to be shown`, look, limitMillis);
  }

  says(selector: string, words: string | RegExp, limitMillis?: number): Promise<string> {
    const look = async (): Promise<string | null> => {
      const text = await this.page.locator(selector).first().textContent({ timeout: 500 }).catch(() => null);
      return text !== null && text.search(words) >= 0 ? text : null;
    };
    return this.soon(`${selector} to say ${words}`, look, limitMillis);
  }

  async openWorkflow(path: string, someNode: string): Promise<void> {
    await this.shown(byId(`workflow-${path}`));
    await this.page.click(byId(`workflow-${path}`));
    await this.shown(byId(`node-${someNode}`));
  }

  /** Starts what is open and waits until it is seen to run. */
  async run(): Promise<void> {
    const rows = this.page.locator('[data-testid^="execution-"][data-roving]');
    const before = await rows.count();
    await this.page.click(byId('run'));
    await this.soon('a new execution in the list', async () => ((await rows.count()) > before ? true : null));
  }

  async runToEnd(): Promise<string> {
    await this.run();
    return this.ended();
  }

  ended(): Promise<string> {
    const look = async (): Promise<string | null> => {
      const phase = await this.page.locator(byId('execution-phase')).getAttribute('data-phase');
      const drawn = (await this.page.locator('.card').count()) > 0;
      return drawn && phase !== null && phase !== 'running' ? phase : null;
    };
    return this.soon('the execution to end', look, RUN_LIMIT_MILLIS);
  }

  /** The scene in both sizes, in every look. */
  async shoot(name: string): Promise<void> {
    if (!picturesWanted()) return;
    for (const [width, height] of [[1280, 800], [1920, 1080]] as const) {
      await this.page.setViewportSize({ width, height });
      for (const [look, media] of Object.entries(LOOKS)) {
        await this.page.emulateMedia({ ...USUAL_LOOK, ...media });
        await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await this.page.screenshot({ path: this.place.shot(`${name}-${width}-${look}`) });
      }
    }
    await this.page.setViewportSize({ width: 1280, height: 800 });
    await this.page.emulateMedia(USUAL_LOOK);
  }

  /** Frames per second while `act` goes on again and again in the page. */
  framesPerSecond(selector: string, act: 'scroll'): Promise<number> {
    return this.page.evaluate(
      ([target, , seconds]) =>
        new Promise<number>((done) => {
          const element = document.querySelector(String(target));
          const began = performance.now();
          let frames = 0;
          const frame = (): void => {
            frames += 1;
            if (element) element.scrollTop += 60;
            const took = performance.now() - began;
            if (took < Number(seconds) * 1_000) requestAnimationFrame(frame);
            else done((frames * 1_000) / took);
          };
          requestAnimationFrame(frame);
        }),
      [selector, act, FRAMES_SECONDS],
    );
  }

  private async situation(): Promise<string> {
    const text = await this.page.evaluate(() => document.body.innerText).catch(() => 'the page is gone');
    return `--- page\n${text.slice(0, 3_000)}\n--- server\n${this.server.output.slice(-3_000)}`;
  }
}

function serving(workflows: string, store: string): string[] {
  return ['serve', workflows, '--store', store, '--private-addresses', 'yes'];
}

/** In a mount namespace of its own, with one and a half megabytes for the store. */
function onSmallDisk(program: string, place: Place): Process {
  const disk = join(dirname(place.store), 'disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=1536k tmpfs "$0" && exec "$@"';
  return new Process('unshare', ['--user', '--map-root-user', '--mount', 'bash', '-c', script, disk, program, ...serving(place.workflows, join(disk, 'store.db'))]);
}
