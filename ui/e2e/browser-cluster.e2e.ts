/** The live view of a master in a real browser: a fan-out on RabbitMQ and Redis, seen while it happens. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Browser, type Page, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { eventually } from './harness/eventually';
import { openPage } from './harness/freshUi';
import { type Place, binary, makePlace } from './harness/place';
import { Process } from './harness/process';
import { CHROMIUM_ARGS } from './harness/stage';
import { weighed } from './harness/stories';

const SERVERS = resolve(import.meta.dirname, '../../.make/with-servers');
const LIMIT_MILLIS = 30_000;
const ITEMS = 60;

let place: Place;
let cluster: Process;
let browser: Browser;
let page: Page;
let runeglass: string;
let addresses: string[];

const byId = (id: string): string => `[data-testid="${id}"]`;

beforeAll(async () => {
  place = makePlace();
  runeglass = binary('RUNEGLASS_BIN', '../target/debug/runeglass');
  const start = `echo "at $RUNEGLASS_AMQP and $RUNEGLASS_REDIS"
    ${runeglass} worker --concurrency 10 & exec ${runeglass} master --store ${place.store}`;
  cluster = new Process(SERVERS, ['bash', '-c', start]);
  const [, amqp = '', redis = ''] = /at (\S+) and (\S+)/.exec(await cluster.says(/(at amqp:\S+ and \S+)/, 60_000)) ?? [];
  addresses = ['--amqp', amqp, '--redis', redis];
  const url = await cluster.says(/(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/, 60_000);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_ARGS });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  page.setDefaultTimeout(10_000);
  await openPage(page, url);
});

afterAll(async () => {
  await browser?.close();
  await cluster?.end();
  place?.remove();
});

function start(): string {
  const file = join(place.workflows, 'parcels.json');
  writeFileSync(file, JSON.stringify(weighed(ITEMS)));
  return execFileSync(runeglass, ['run', file, '--detach', ...addresses], { encoding: 'utf8' }).trim();
}

async function phase(): Promise<string | null> {
  return page.locator(byId('execution-phase')).getAttribute('data-phase');
}

async function shots(name: string): Promise<void> {
  for (const [width, height] of [[1280, 800], [1920, 1080]] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: place.shot(`${name}-${width}-${colorScheme}`) });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
}

describe('the live view of a master', () => {
  it('says what it is, and offers nothing that only an engine here could do', async () => {
    await page.locator(byId('cluster-welcome')).waitFor();
    expect(await page.locator(byId('mode-chip')).textContent()).toBe('CLUSTER · live');
    expect(await page.locator(byId('run')).count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'Workflows' }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await shots('cluster-empty');
  });

  it('shows a fan-out while it happens, to its end', async () => {
    const id = start();
    await page.locator(byId(`execution-${id}`)).click();
    const progress = page.locator('[data-id="all"]');
    const seen = new Set<string>();
    await eventually(
      'some of the items',
      LIMIT_MILLIS,
      async () => {
        const found = /(\d+) \/ 60/.exec((await progress.textContent()) ?? '')?.[1];
        if (found !== undefined) seen.add(found);
        return [...seen].some((count) => Number(count) > 0 && Number(count) < ITEMS) ? true : null;
      },
      () => [...seen].join(),
    );
    expect(await phase()).toBe('running');
    await shots('cluster-live');
    await eventually('the end', LIMIT_MILLIS, async () => ((await phase()) === 'completed' ? true : null), () => cluster.output);
    await shots('cluster-ended');
  });

  it('stops an execution of the cluster', async () => {
    const id = start();
    await page.locator(byId(`execution-${id}`)).click();
    await page.locator(byId('stop')).click();
    await eventually('the end', LIMIT_MILLIS, async () => ((await phase()) === 'halted' ? true : null), () => cluster.output);
    expect(await page.locator(byId('stop')).count()).toBe(0);
  });
});
