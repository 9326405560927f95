/** Looking into a live cluster from a real browser: RabbitMQ, Redis and two workers, and a host that only attaches. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Cluster } from './harness/cluster';
import { Process } from './harness/process';
import { Stage, byId } from './harness/stage';
import { weighed } from './harness/stories';

const LIMIT_MILLIS = 30_000;
const ITEMS = 120;

let cluster: Cluster;
let workers: Process[] = [];
let stage: Stage;

const ORDER = {
  name: 'Order',
  nodes: [
    { id: 'start', type: 'trigger', name: 'Order' },
    { id: 'say', type: 'log', name: 'Confirm', parameters: { message: 'ordered' } },
  ],
  edges: [{ id: 'a', src: 'start', dst: 'say' }],
  sample_input: {},
};

/** One branch comes at once, the other rests for an hour. */
const APPROVAL = {
  name: 'Approval',
  nodes: [
    { id: 'start', type: 'trigger', name: 'Order' },
    { id: 'check', type: 'edit', name: 'Check stock', parameters: { assignments: [{ name: 'in_stock', value: true }] } },
    { id: 'rest', type: 'wait', name: 'Wait for approval', parameters: { amount: 1, unit: 'hours' } },
    { id: 'both', type: 'merge', name: 'Both known' },
    { id: 'ship', type: 'log', name: 'Ship', parameters: { message: 'shipped' } },
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'check' },
    { id: 'b', src: 'start', dst: 'rest' },
    { id: 'c', src: 'check', dst: 'both' },
    { id: 'd', src: 'rest', dst: 'both' },
    { id: 'e', src: 'both', dst: 'ship' },
  ],
  sample_input: {},
};

beforeAll(async () => {
  cluster = await Cluster.start();
  // Saved connections of this machine are none of a test's business.
  process.env.XDG_DATA_HOME = cluster.folder;
  workers = [cluster.worker(), cluster.worker()];
  stage = await Stage.open();
});

afterAll(async () => {
  await stage?.close();
  await cluster?.end();
});

describe('attaching to a live cluster', () => {
  it('is found with Ctrl+K, and left with Esc', async () => {
    const { page } = stage;
    await stage.shown(byId('attach'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('attach');
    await page.keyboard.press('Enter');
    await stage.shown(byId('attach-dialog'));
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
    expect(await seriousFindings(page)).toEqual([]);
    // The focus does not leave the dialog, however far one goes.
    for (let step = 0; step < 20; step += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await stage.soon('the dialog to go', async () => ((await page.locator(byId('attach-dialog')).count()) === 0 ? true : null));
  });

  it('says one clear sentence about a wrong password', async () => {
    const { page } = stage;
    await page.click(byId('attach'));
    await cluster.fill(stage, 'wrong');
    await page.click(byId('attach-test'));
    await stage.says(byId('attach-steps'), /RabbitMQ does not let this user in\. Check the user and the password\.Redis lets us in\./, LIMIT_MILLIS);
    expect(await seriousFindings(page)).toEqual([]);
    await stage.shoot('attach-dialog');
    await page.click(byId('attach-now'));
    await stage.says(byId('attach-steps'), /^RabbitMQ does not let this user in\. Check the user and the password\.$/, LIMIT_MILLIS);
    expect(await page.locator(byId('live-banner')).count()).toBe(0);
  });

  it('attaches, and says where one is', async () => {
    const { page } = stage;
    await cluster.fill(stage, 'guest');
    await page.click(byId('attach-test'));
    await stage.soon('five good steps', async () => ((await page.locator('.attach-good').count()) === 5 ? true : null), LIMIT_MILLIS);
    await page.getByLabel('RabbitMQ password').press('Enter');
    await stage.says(byId('live-banner'), /LIVE.*production.*read only/, LIMIT_MILLIS);
    expect(await page.locator(byId('mode-chip')).textContent()).toBe('LIVE · read only');
    await stage.says(byId('toast'), /its password is not/);
    await page.locator(byId('toast')).getByRole('button').click();
    await stage.soon('the dialog to go', async () => ((await page.locator(byId('attach-dialog')).count()) === 0 ? true : null));
  });

  it('shows a fan-out while it happens, and offers nothing that cannot be done to it', async () => {
    const { page } = stage;
    const id = cluster.run('parcels', weighed(ITEMS));
    await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
    await page.click(byId(`execution-${id}`));
    await stage.says('[data-id="all"]', /[1-9]\d* \/ 120/, LIMIT_MILLIS);
    for (const absent of ['run', 'stop']) expect(await page.locator(byId(absent)).count()).toBe(0);
    await page.click(byId('tab-items'));
    await stage.shoot('attach-fan-out');
    await page.click(byId('tab-cluster'));
    await stage.says(byId('live-banner'), /Runeglass workers/, LIMIT_MILLIS);
    await stage.says(byId('cluster-panel'), /workflow\.execution/, LIMIT_MILLIS);
    await stage.ended();
    await stage.shoot('attach-cluster');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says everything that it can say to the cluster, to who asks with the keyboard', async () => {
    const { page } = stage;
    await page.locator('.cluster-sheet summary').focus();
    await page.keyboard.press('Enter');
    await stage.says(byId('capabilities'), /Redis.*GET/);
    await page.locator(byId('capabilities')).scrollIntoViewIfNeeded();
    await stage.shoot('attach-capabilities');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
  });

  it('looks through a join that waits', async () => {
    const { page } = stage;
    const id = cluster.run('approval', APPROVAL);
    await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
    await page.click(byId(`execution-${id}`));
    await stage.says('[data-id="both"]', /1 \/ 2/, LIMIT_MILLIS);
    await page.click(byId('node-both'));
    await stage.says(byId('barrier'), /Wait for approval/, LIMIT_MILLIS);
    await page.click(byId('tab-waits'));
    await stage.says(byId('waits'), /Wait for approval/, LIMIT_MILLIS);
    await stage.shoot('attach-join');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says that nobody works, and what to do', async () => {
    const { page } = stage;
    await Promise.all(workers.map((each) => each.end()));
    workers = [];
    const file = join(cluster.folder, 'order.json');
    writeFileSync(file, JSON.stringify(ORDER));
    const order = [cluster.runeglass, 'run', file, '--detach', ...cluster.addresses].join(' ');
    const orders = new Process('bash', ['-c', `for each in $(seq 60); do ${order}; sleep 0.3; done`]);
    await page.click(byId('tab-cluster'));
    try {
      await stage.says(byId('findings'), /No consumerworkflow\.execution holds \d+ messages? and nobody takes them.*Start a worker/, LIMIT_MILLIS);
      await stage.says(byId('live-findings'), /found wrong/);
      await stage.shoot('attach-stuck');
      expect(await seriousFindings(page)).toEqual([]);
    } finally {
      await orders.end();
      workers = [cluster.worker(), cluster.worker()];
    }
  });

  it('records, detaches, and scrubs in what was recorded', async () => {
    const { page } = stage;
    await page.click(byId('live-record'));
    await stage.says(byId('live-record'), 'Recording');
    const id = cluster.run('parcels', weighed(ITEMS));
    await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
    await page.click(byId(`execution-${id}`));
    await stage.ended();
    await page.click(byId('live-detach'));
    await stage.soon('the banner to go', async () => ((await page.locator(byId('live-banner')).count()) === 0 ? true : null), LIMIT_MILLIS);
    expect(await page.locator(byId('mode-chip')).textContent()).toBe('LOCAL · web');
    await stage.shown(byId(`execution-${id}`));
    await page.click(byId('tab-timeline'));
    await page.focus(byId('scrubber'));
    await page.keyboard.press('Home');
    await stage.soon('the first moment', async () => ((await page.locator(byId('execution-phase')).getAttribute('data-phase')) === 'running' ? true : null));
    await stage.shoot('attach-recorded');
    await page.keyboard.press('End');
    await stage.soon('the end', async () => ((await page.locator(byId('execution-phase')).getAttribute('data-phase')) === 'completed' ? true : null));
  });

  it('forgets what was not to be kept, and comes back with the saved connection', async () => {
    const { page } = stage;
    await page.click(byId('attach'));
    await stage.soon('the saved one', async () => ((await page.getByLabel('Name').inputValue()) === 'production' ? true : null));
    // There may be no keyring here, so the password is typed again; it was not shown.
    const secret = page.getByLabel('RabbitMQ password');
    expect(await secret.inputValue()).toBe('');
    await secret.fill('guest');
    await page.click(byId('attach-now'));
    await stage.shown(byId('live-banner'), LIMIT_MILLIS);
    const id = cluster.run('approval', APPROVAL);
    await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
    await page.click(byId(`execution-${id}`));
    await stage.says('[data-id="both"]', /1 \/ 2/, LIMIT_MILLIS);
    // A page that is loaded again finds the cluster it was looking into.
    await page.reload();
    await stage.shown(byId('live-banner'), LIMIT_MILLIS);
    await page.click(byId(`execution-${id}`));
    await stage.shown(byId('node-both'));
    await page.click(byId('live-detach'));
    await stage.soon('it to be forgotten', async () => ((await page.locator(byId(`execution-${id}`)).count()) === 0 ? true : null), LIMIT_MILLIS);
    await stage.soon('its graph to be gone', async () => ((await page.locator(byId('node-both')).count()) === 0 ? true : null));
    // A refused wish is told by the browser, too; everything else would be a fault of the page.
    expect(stage.complaints.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([]);
  });
});
