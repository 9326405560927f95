/** The page that `runeglass serve` serves, in a real browser, with the sample workflows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type Page, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './harness/eventually';
import { openPage } from './harness/freshUi';
import { type Place, binary, makePlace } from './harness/place';
import { Process } from './harness/process';
import { CHROMIUM_ARGS } from './harness/stage';

const RUN_LIMIT_MILLIS = 20_000;

let place: Place;
let server: Process;
let browser: Browser;
let page: Page;
let origin: string;
const complaints: string[] = [];

beforeAll(async () => {
  place = makePlace();
  server = new Process(binary('RUNEGLASS_BIN', '../target/debug/runeglass'), [
    'serve',
    place.workflows,
    '--store',
    place.store,
    // One sample asks this machine.
    '--private-addresses',
    'yes',
  ]);
  const url = await server.says(/(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/);
  origin = new URL(url).origin;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  page.setDefaultTimeout(10_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('response', async (response) => {
    // The browser says that a call failed, not which.
    if (response.url().endsWith('/api/call') && !response.ok()) {
      complaints.push(`${response.request().postData()}: ${await response.text().catch(() => response.status())}`);
    }
  });
  await openPage(page, url);
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
  place?.remove();
});

const byId = (id: string): string => `[data-testid="${id}"]`;

/** What the page says, for a wait that failed. */
async function situation(): Promise<string> {
  const text = await page.evaluate(() => document.body.innerText).catch(() => 'the page is gone');
  return `--- page\n${text.slice(0, 3_000)}\n--- server\n${server.output.slice(-3_000)}`;
}

function soon<T>(what: string, look: () => Promise<T | null>, limitMillis = 10_000): Promise<T> {
  return eventually(what, limitMillis, look, situation);
}

const shown = (selector: string, limitMillis?: number): Promise<true> =>
  soon(`${selector} to be shown`, async () => ((await page.locator(selector).first().isVisible()) ? true : null), limitMillis);

const gone = (selector: string): Promise<true> =>
  soon(`${selector} to go away`, async () => ((await page.locator(selector).count()) === 0 ? true : null));

/** The state of every node on the canvas, by id. */
function states(): Promise<{ [id: string]: string }> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll<HTMLElement>('[data-testid^="node-"][data-state]')].map((card) => [
        card.dataset.node ?? '',
        card.dataset.state ?? '',
      ]),
    ),
  );
}

const phase = (): Promise<string | null> => page.locator(byId('execution-phase')).getAttribute('data-phase');

async function openWorkflow(path: string, someNode: string): Promise<void> {
  await shown(byId(`workflow-${path}`));
  await page.click(byId(`workflow-${path}`));
  await shown(byId(`node-${someNode}`));
}

/** Runs what is open and waits for its end, and for the picture of it. */
async function runToEnd(): Promise<string> {
  const before = await page.locator('[data-testid^="execution-"][data-roving]').count();
  await page.click(byId('run'));
  await soon('a new execution in the list', async () =>
    (await page.locator('[data-testid^="execution-"][data-roving]').count()) > before ? true : null,
  );
  return soon(
    'the execution to end',
    async () => {
      const current = await phase();
      const drawn = (await page.locator('.card').count()) > 0;
      return drawn && current !== null && current !== 'running' ? current : null;
    },
    RUN_LIMIT_MILLIS,
  );
}

async function editWorkflow(path: string, change: (workflow: { nodes: { id: string; type: string }[] }) => void): Promise<void> {
  const file = join(place.workflows, path);
  const workflow = JSON.parse(readFileSync(file, 'utf8')) as { nodes: { id: string; type: string }[] };
  change(workflow);
  writeFileSync(file, JSON.stringify(workflow, null, 2));
}

describe('runeglass serve', () => {
  it('refuses whoever has no token', async () => {
    const answer = await fetch(`${origin}/api/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"type":"snapshot"}',
    });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ message: expect.any(String), hint: expect.any(String) });
  });

  it('says where it runs', async () => {
    await shown(byId('mode-chip'));
    expect(await page.textContent(byId('mode-chip'))).toBe('LOCAL · web');
  });

  it('runs the hello workflow until every node has succeeded', async () => {
    await openWorkflow('hello.json', 'say');
    expect(Object.values(await states())).toEqual(['idle', 'idle', 'idle', 'idle']);
    expect(await runToEnd()).toBe('completed');
    await soon('every node to succeed', async () => (Object.values(await states()).every((state) => state === 'success') ? true : null));
    expect(Object.keys(await states())).toHaveLength(4);
  });

  it('shows the output of a node', async () => {
    await page.click(byId('node-fetch'));
    await soon('the greeting in the inspector', async () =>
      (await page.textContent(byId('inspector')))?.includes('Good morning') ? true : null,
    );
    await page.click(byId('tab-parameters'));
    await shown(`${byId('inspector')} .segments`);
    await page.click(byId('tab-output'));
    await page.screenshot({ path: place.shot('browser-hello-light') });
  });

  it('is dark and light as one likes', async () => {
    const theme = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset.theme);
    expect(await theme()).toBe('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await soon('the page to follow the system', async () => ((await theme()) === 'dark' ? true : null));
    await page.screenshot({ path: place.shot('browser-hello-dark') });
    await page.click(byId('theme-toggle'));
    expect(await theme()).toBe('light');
    await page.click(byId('theme-toggle'));
    expect(await theme()).toBe('dark');
    await page.click(byId('theme-toggle'));
    expect(await theme()).toBe('contrast');
    await page.click(byId('theme-toggle'));
    await page.emulateMedia({ colorScheme: 'light' });
    await soon('the page to follow the system again', async () => ((await theme()) === 'light' ? true : null));
  });

  it('shows the branch that was not taken as skipped', async () => {
    await openWorkflow('review.json', 'risky');
    expect(await runToEnd()).toBe('completed');
    expect(await states()).toMatchObject({ received: 'success', ship: 'success', confirm: 'success', ask: 'skipped', escalate: 'skipped' });
    expect(await page.getAttribute('[data-edge="to-person"]', 'data-look')).toBe('skipped');
    expect(await page.getAttribute('[data-edge="to-shipping"]', 'data-look')).toBe('taken');
    await page.screenshot({ path: place.shot('browser-review') });
  });

  it('counts down to the next attempt, and lists the attempts that failed', async () => {
    await openWorkflow('persistent.json', 'station');
    await page.click(byId('run'));
    const card = byId('node-station');
    await shown(`${card}.card-retrying`);
    await soon('a countdown on the card', async () => {
      const words = (await page.locator(card).innerText()).replaceAll('\n', ' ');
      return /attempt 2 .*Tries again in \d s/.test(words) ? true : null;
    });
    await page.hover(card);
    await shown(`${card} ${byId('retry-reason')}`);
    expect(await page.textContent(byId('retry-reason'))).toContain('Attempt 1 failed · No connection');
    await page.click(card);
    await soon('the next attempt in the inspector', async () =>
      /tries again (in \d s|now) · attempt \d/.test((await page.textContent(byId('inspector'))) ?? '') ? true : null,
    );
    await page.screenshot({ path: place.shot('browser-retry') });
    await soon('the execution to end', async () => ((await phase()) === 'completed' ? true : null), RUN_LIMIT_MILLIS);
    expect(await states()).toMatchObject({ station: 'failed', old: 'success', fresh: 'skipped', say: 'success' });
    await soon('both attempts', async () => ((await page.locator(`${byId('failed-attempts')} li`).count()) === 2 ? true : null));
    await soon('the last word', async () => ((await page.textContent(byId('inspector')))?.includes('after 3 attempts') ? true : null));
    await page.screenshot({ path: place.shot('browser-attempts') });
  });

  it('shows items that drop out of a fan-out, and those that came too late', async () => {
    await openWorkflow('couriers.json', 'first');
    expect(await runToEnd()).toBe('completed');
    await soon('the items that dropped out', async () =>
      (await page.getAttribute(byId('node-pack'), 'aria-label'))?.includes('7 done, 3 skipped of 10') ? true : null,
    );
    expect(await page.textContent(`${byId('node-pack')} [data-count="skipped"]`)).toBe('3');
    // Seven parcels, two couriers each: one of the two is late.
    const late = await page.locator('.route-words-note').allTextContents();
    expect(late.map((note) => Number.parseInt(note, 10)).reduce((sum, count) => sum + count, 0)).toBe(7);
    await page.screenshot({ path: place.shot('browser-couriers') });
  });

  it('shows a failure and the way around it', async () => {
    await openWorkflow('resilient.json', 'billing');
    await runToEnd();
    expect(await states()).toMatchObject({ billing: 'failed', explain: 'success', 'billing-report': 'skipped' });
    await page.click(byId('node-billing'));
    await soon('the error in the inspector', async () => ((await page.textContent(byId('inspector')))?.includes('503') ? true : null));
    await page.screenshot({ path: place.shot('browser-resilient') });
  });

  it('shows what is wrong with a saved file within a second, and keeps the graph of the execution', async () => {
    await editWorkflow('resilient.json', ({ nodes }) => {
      for (const node of nodes) if (node.id === 'page') node.type = 'carrier-pigeon';
    });
    await shown(`${byId('workflow-resilient.json')} .badge-error`, 1_000);
    await shown(byId('changed-banner'));
    expect(await page.locator(byId('node-marker')).count()).toBe(0);
    await page.click(`${byId('changed-banner')} button`);
    await shown(`${byId('problems')} .problems-error`);
    await shown(`${byId('node-page')} ${byId('node-marker')}`);
    expect(await page.getAttribute(byId('run'), 'aria-disabled')).toBe('true');
    await page.screenshot({ path: place.shot('browser-problems') });
  });

  it('forgets the complaint when the file is right again', async () => {
    await editWorkflow('resilient.json', ({ nodes }) => {
      for (const node of nodes) if (node.id === 'page') node.type = 'simulate';
    });
    await gone(byId('problems'));
    expect(await page.getAttribute(byId('run'), 'aria-disabled')).toBe('false');
  });

  it('saves a recording and replays it without any action', async () => {
    await openWorkflow('hello.json', 'say');
    await runToEnd();
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(byId('save-recording'))]);
    const file = await download.path();
    await page.setInputFiles(byId('recording-file'), { name: 'hello.json', mimeType: 'application/json', buffer: readFileSync(file) });
    await soon('the replay', async () => ((await page.textContent(byId('mode-chip'))) === 'REPLAY (Hello, glass)' ? true : null));
    await soon('the end of the replay', async () => ((await phase()) === 'completed' ? true : null), RUN_LIMIT_MILLIS);
    expect(Object.values(await states())).toEqual(['success', 'success', 'success', 'success']);
    expect(await page.locator(byId('run')).count()).toBe(0);
    await page.screenshot({ path: place.shot('browser-replay') });
    await page.click(byId('close-recording'));
    await shown(byId('workflow-hello.json'));
  });

  it('refuses a file that is no recording and loses nothing', async () => {
    await page.setInputFiles(byId('recording-file'), { name: 'bad.json', mimeType: 'application/json', buffer: Buffer.from('{}') });
    await shown(byId('toast'));
    expect(await page.textContent(byId('mode-chip'))).toBe('LOCAL · web');
  });

  it('had nothing to complain about on the way', () => {
    expect(complaints).toEqual([]);
  });
});
