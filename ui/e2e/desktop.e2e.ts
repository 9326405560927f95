/** The real window on a private display, driven through WebDriver. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCase } from './harness/case';
import { DesktopStage, editedBy } from './harness/desktop';
import type { Place } from './harness/place';
import { changingRecording, fanOut } from './harness/speed';
import { byId } from './harness/stage';
import type { WebDriver } from './harness/webdriver';

const RUN_LIMIT_MILLIS = 60_000;
const FRAMES_SECONDS = 3;
/** Decided before anything is measured: what is measured is work, too. */
const calm = (loadavg()[0] ?? 0) <= availableParallelism() * 0.75;

let stage: DesktopStage;
let place: Place;
let window: WebDriver;

beforeAll(async () => {
  stage = await DesktopStage.open();
  place = stage.place;
  writeFileSync(join(place.workflows, 'f10000.json'), JSON.stringify(fanOut(10_000)));
  window = await stage.start([place.workflows, '--store', place.store]);
});

afterAll(() => stage?.close());

const soon = <T>(what: string, look: () => Promise<T | null>, limitMillis?: number): Promise<T> => stage.soon(what, look, limitMillis);
const shown = (selector: string, limitMillis?: number): Promise<true> => stage.shown(selector, limitMillis);
const attribute = (selector: string, name: string): Promise<string | null> => stage.attribute(selector, name);
const states = (): Promise<{ [id: string]: string }> => stage.states();

/** Gives a file to the page as if somebody had chosen it. */
async function choose(name: string, bytes: Buffer): Promise<void> {
  await window.run(
    `const bytes = Uint8Array.from(atob(arguments[2]), (each) => each.charCodeAt(0));
     const files = new DataTransfer();
     files.items.add(new File([bytes], arguments[1]));
     const input = document.querySelector(arguments[0]);
     input.files = files.files;
     input.dispatchEvent(new Event('change', { bubbles: true }));`,
    byId('recording-file'),
    name,
    bytes.toString('base64'),
  );
}

/** Counted by the window itself, while \`act\` happens in each frame. */
async function framesPerSecond(act = ''): Promise<number> {
  await window.run(
    `window.pace = null;
     const began = performance.now();
     let frames = 0;
     const frame = () => {
       frames += 1;
       ${act}
       const took = performance.now() - began;
       if (took < ${FRAMES_SECONDS * 1_000}) requestAnimationFrame(frame);
       else window.pace = (frames * 1000) / took;
     };
     requestAnimationFrame(frame);`,
  );
  return soon('the frames to be counted', () => window.run<number | null>('return window.pace'), 30_000);
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

  it('opens the workflow in the system’s editor', async () => {
    await window.click(byId('workflow-hello.json'));
    await shown(byId('edit-file'));
    await window.click(byId('edit-file'));
    await soon('the editor', async () => (existsSync(editedBy(place)) && readFileSync(editedBy(place), 'utf8').includes('hello.json') ? true : null));
  });

  it('takes in a recording that somebody drops', async () => {
    const { id, file } = makeCase(place);
    await choose('case.runeglass', readFileSync(file));
    await shown(byId(`execution-${id}`));
    await soon('its graph', async () => ((await states()).ship === 'success' ? true : null));
  });

  it('tells why, forks, and compares', async () => {
    // It may stand beside the part of the graph that is in sight.
    await window.run('document.querySelector(arguments[0]).click()', byId('node-ask'));
    await soon('a reason', async () =>
      (await window.run<string>('return document.querySelector(arguments[0])?.textContent ?? ""', byId('why-node'))).includes('It did not run, because') ? true : null,
    );
    const parent = await attribute('[data-roving][aria-current="true"][data-testid^="execution-"]', 'data-testid');
    await window.click(byId('fork-here'));
    await shown(`${byId('fork-preview')}[data-state="known"]`);
    await window.click(byId('start-fork'));
    const fork = await soon('the fork', async () => {
      const open = await attribute('[data-roving][aria-current="true"][data-testid^="execution-"]', 'data-testid');
      return open !== null && open !== parent ? open : null;
    });
    expect(fork).not.toBe(parent);
    await window.run('document.querySelector(arguments[0]).click()', byId((parent ?? '').replace('execution-', 'compare-')));
    await shown(byId('compare-bar'));
    await soon('a verdict', async () => ((await attribute(byId('node-ship'), 'data-verdict')) === null ? null : true));
    await window.screenshot(place.shot('desktop-compare'));
    await window.click(byId('compare-close'));
  });

  it('keeps its pace in the window, too', { timeout: 180_000 }, async () => {
    expect(await runToEnd('f10000.json', 'check')).toBe('completed');
    await window.click(byId('tab-items'));
    await shown('.items-scroller');
    const scrolling = await framesPerSecond('document.querySelector(".items-scroller").scrollTop += 3;');
    await choose('changing.json', Buffer.from(JSON.stringify(changingRecording(300, 100, 700))));
    await shown(byId('node-n0'), 30_000);
    await soon('things to change', async () => ((await attribute(byId('node-n0'), 'data-state')) === 'idle' ? null : true));
    const near = await framesPerSecond();
    await window.run(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', bubbles: true }))`);
    await shown('.canvas-speck');
    const changing = await framesPerSecond();
    console.log(
      `in the window, software rendering: 10,000 items scrolled at ${scrolling.toFixed(0)} frames per second, 300 nodes with 100 changes in each frame at ${changing.toFixed(0)} as a whole and ${near.toFixed(0)} from near by (the goal is 30); load ${(loadavg()[0] ?? 0).toFixed(1)}`,
    );
    await window.screenshot(place.shot('desktop-changing'));
    // The figures are printed; what fails here is half of the goal, which is more than noise.
    if (calm) expect(Math.min(scrolling, changing)).toBeGreaterThanOrEqual(15);
    await window.click(byId('close-recording'));
    await shown(byId('workflow-hello.json'));
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
