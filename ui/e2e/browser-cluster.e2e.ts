/** The live view of a master in a real browser: a fan-out on RabbitMQ and Redis, seen while it happens. */
import { type Browser, type Page, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Cluster } from './harness/cluster';
import { eventually } from './harness/eventually';
import { openPage } from './harness/freshUi';
import { type Place, makePlace } from './harness/place';
import type { Process } from './harness/process';
import { CHROMIUM_ARGS, byId, picturesWanted } from './harness/stage';
import { weighed } from './harness/stories';

const LIMIT_MILLIS = 30_000;
const ITEMS = 60;

let place: Place;
let cluster: Cluster;
let master: Process;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  place = makePlace();
  cluster = await Cluster.start();
  cluster.worker();
  master = cluster.serve('master', '--store', place.store);
  const url = await master.says(/(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/, 60_000);
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

async function phase(): Promise<string | null> {
  return page.locator(byId('execution-phase')).getAttribute('data-phase');
}

async function shots(name: string): Promise<void> {
  if (!picturesWanted()) return;
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
    const id = cluster.run('parcels', weighed(ITEMS));
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
    await eventually('the end', LIMIT_MILLIS, async () => ((await phase()) === 'completed' ? true : null), () => master.output);
    await shots('cluster-ended');
  });

  it('stops an execution of the cluster', async () => {
    const id = cluster.run('parcels', weighed(ITEMS));
    await page.locator(byId(`execution-${id}`)).click();
    await page.locator(byId('stop')).click();
    await eventually('the end', LIMIT_MILLIS, async () => ((await phase()) === 'halted' ? true : null), () => master.output);
    expect(await page.locator(byId('stop')).count()).toBe(0);
  });
});
