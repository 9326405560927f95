/** The real window on a private display, driven through WebDriver. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './harness/eventually';
import { type Place, binary, makePlace } from './harness/place';
import { Process, freePort } from './harness/process';
import { WebDriver } from './harness/webdriver';

const RUN_LIMIT_MILLIS = 20_000;

let place: Place;
let screen: Process;
let driver: Process;
let window: WebDriver;

beforeAll(async () => {
  const application = binary('RUNEGLASS_DESKTOP', '../target/debug/runeglass-desktop');
  place = makePlace();
  // Xvfb looks for a free display by itself and says which it found.
  screen = new Process('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x800x24', '-nolisten', 'tcp']);
  const display = await screen.says(/^(\d+)$/m);
  const port = await freePort();
  driver = startDriver(port, display);
  await eventually('WebKitWebDriver to answer', 10_000, () => isUp(port), () => driver.output);
  window = await WebDriver.open(`http://127.0.0.1:${port}`, application, [place.workflows, '--store', place.store]);
});

afterAll(async () => {
  await window?.close().catch(() => undefined);
  await driver?.end();
  await screen?.end();
  place?.remove();
});

function startDriver(port: number, display: string): Process {
  return new Process('WebKitWebDriver', ['--host=127.0.0.1', `--port=${port}`], {
    DISPLAY: `:${display}`,
    WAYLAND_DISPLAY: undefined,
    GDK_BACKEND: 'x11',
    // The private display belongs to no desktop session, so there is no bus to look for.
    NO_AT_BRIDGE: '1',
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

const byId = (id: string): string => `[data-testid="${id}"]`;

async function situation(): Promise<string> {
  const text = await window.run<string>('return document.body.innerText').catch(() => 'the window is gone');
  return `--- window\n${text.slice(0, 3_000)}\n--- driver\n${driver.output.slice(-3_000)}`;
}

function soon<T>(what: string, look: () => Promise<T | null>, limitMillis = 10_000): Promise<T> {
  return eventually(what, limitMillis, look, situation);
}

const shown = (selector: string, limitMillis?: number): Promise<true> =>
  soon(
    `${selector} to be shown`,
    async () => ((await window.run<boolean>('return document.querySelector(arguments[0]) !== null', selector)) ? true : null),
    limitMillis,
  );

const attribute = (selector: string, name: string): Promise<string | null> =>
  window.run('return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null', selector, name);

function states(): Promise<{ [id: string]: string }> {
  return window.run(
    'return Object.fromEntries([...document.querySelectorAll("[data-testid^=node-][data-state]")].map((card) => [card.dataset.node, card.dataset.state]))',
  );
}

async function runToEnd(path: string, someNode: string): Promise<string> {
  await shown(byId(`workflow-${path}`));
  await window.click(byId(`workflow-${path}`));
  await shown(byId(`node-${someNode}`));
  await window.click(byId('run'));
  await shown(byId('execution-phase'));
  return soon(
    'the execution to end',
    async () => {
      const phase = await attribute(byId('execution-phase'), 'data-phase');
      return phase !== null && phase !== 'running' ? phase : null;
    },
    RUN_LIMIT_MILLIS,
  );
}

describe('runeglass-desktop', () => {
  it('opens with the samples', async () => {
    await shown(byId('workflow-hello.json'), 30_000);
    expect(await window.run('return document.querySelector(arguments[0]).textContent', byId('mode-chip'))).toBe('LOCAL');
  });

  it('runs the hello workflow until every node has succeeded', async () => {
    expect(await runToEnd('hello.json', 'say')).toBe('completed');
    await soon('every node to succeed', async () => (Object.values(await states()).every((state) => state === 'success') ? true : null));
    expect(Object.keys(await states())).toHaveLength(4);
  });

  it('shows the output of a node', async () => {
    await window.click(byId('node-fetch'));
    await soon('the greeting in the inspector', async () =>
      (await window.run<string>('return document.querySelector(arguments[0]).textContent', byId('inspector'))).includes('Good morning') ? true : null,
    );
    await window.screenshot(place.shot('desktop-hello'));
  });

  it('shows the branch that was not taken as skipped', async () => {
    expect(await runToEnd('review.json', 'risky')).toBe('completed');
    expect(await states()).toMatchObject({ ship: 'success', confirm: 'success', ask: 'skipped' });
    await window.screenshot(place.shot('desktop-review'));
  });

  it('lays the graph out in its worker', async () => {
    // The plain layout puts columns at fixed places; ELK does not.
    const columns = await window.run<number[]>(
      'return [...document.querySelectorAll(".react-flow__node")].map((node) => new DOMMatrix(getComputedStyle(node).transform).m41)',
    );
    expect(columns.some((column) => column % 320 !== 0)).toBe(true);
  });

  it('breaks and steps', async () => {
    const text = (selector: string): Promise<string> => window.run('return document.querySelector(arguments[0])?.textContent ?? ""', selector);
    await window.click(byId('workflow-hello.json'));
    await shown(byId('node-say'));
    await window.click(byId('node-fetch'));
    await window.press('F9');
    await shown(`${byId('port-before-fetch')}[data-break="set"]`);
    await window.click(byId('run'));
    await shown(`${byId('node-fetch')}[data-held="1"]`, RUN_LIMIT_MILLIS);
    await soon('the held message beside the graph', async () => ((await text(byId('held-inspector'))).includes('breakpoint 1') ? true : null));
    await window.click(byId('edit-parameters'));
    await soon('the editor', async () => ((await window.run<boolean>('return document.querySelector(".json-editor")?.shadowRoot?.querySelector(".cm-content") != null')) ? true : null));
    await window.screenshot(place.shot('desktop-editor'));
    await window.run('[...document.querySelectorAll(".payload-editor button")].find((button) => button.textContent === "Cancel").click()');
    await window.screenshot(place.shot('desktop-held'));
    await window.press('F10');
    await soon('the next node to hold it', async () => {
      const held = await window.run<string[]>('return [...document.querySelectorAll("[data-held]")].map((card) => card.dataset.node)');
      return held.length === 1 && held[0] !== 'fetch' ? held : null;
    }, RUN_LIMIT_MILLIS);
    expect((await states()).fetch).toBe('success');
    await window.press('F5');
    await soon(
      'the execution to end',
      async () => ((await attribute(byId('execution-phase'), 'data-phase')) === 'completed' ? true : null),
      RUN_LIMIT_MILLIS,
    );
    await window.click(byId('node-fetch'));
    await window.press('F9');
    await shown(`${byId('port-before-fetch')}[data-break="disabled"]`);
    await window.press('F9');
    await soon('it to be gone', async () => ((await attribute(byId('port-before-fetch'), 'data-break')) !== 'disabled' ? true : null));
  });

  it('turns dark', async () => {
    const choose = async (wanted: string): Promise<true | null> => {
      if ((await attribute(byId('theme-toggle'), 'data-theme-choice')) === wanted) return true;
      await window.click(byId('theme-toggle'));
      return null;
    };
    await soon('the dark theme to be chosen', () => choose('dark'));
    expect(await attribute('html', 'data-theme')).toBe('dark');
    await window.screenshot(place.shot('desktop-dark'));
  });
});
