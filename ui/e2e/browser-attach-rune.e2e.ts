/** Looking into a cluster of the public Rune services from a real browser: a simulated one, on RabbitMQ and Redis. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Cluster, Way } from './harness/cluster';
import { binary } from './harness/place';
import { Process } from './harness/process';
import { Stage, byId } from './harness/stage';

const LIMIT_MILLIS = 30_000;

let cluster: Cluster;
let way: Way;
let stage: Stage;
let scene: string;
const playing: Process[] = [];

beforeAll(async () => {
  scene = binary('RUNEGLASS_RUNE_SCENE', '../target/debug/rune-scene');
  cluster = await Cluster.start();
  // Saved connections of this machine are none of a test's business.
  process.env.XDG_DATA_HOME = cluster.folder;
  way = await Way.to(Number(new URL(cluster.amqp).port));
  await play('services', '-').says(/(playing services)/, LIMIT_MILLIS);
  stage = await Stage.open();
});

afterAll(async () => {
  await stage?.close();
  await Promise.all(playing.map((each) => each.end()));
  await way?.close();
  await cluster?.end();
});

/** On the cluster, while the test goes on. */
function play(name: string, id: string): Process {
  const player = new Process(scene, [cluster.amqp, cluster.redis, name, id]);
  playing.push(player);
  return player;
}

/** The row of an execution that is there and open. */
async function open(id: string): Promise<void> {
  await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
  await stage.page.click(byId(`execution-${id}`));
}

describe('attaching to a cluster of the Rune services', () => {
  it('finds out whose workers they are, and says so', async () => {
    const { page } = stage;
    await page.click(byId('attach'));
    await page.getByLabel('Name').fill('shop');
    await page.getByRole('radio', { name: 'Purple' }).check();
    await page.getByLabel('RabbitMQ', { exact: true }).fill(`amqp://guest:guest@127.0.0.1:${way.port}/%2f`);
    await page.getByLabel('Redis', { exact: true }).fill(cluster.redis);
    await page.click(byId('attach-now'));
    await stage.says(byId('live-banner'), /LIVE.*shop.*read only.*Rune services/, LIMIT_MILLIS);
    expect(await page.locator(byId('mode-chip')).textContent()).toBe('LIVE · read only');
    // Where there is no keyring that is told, and is not the matter here.
    const toast = page.locator(byId('toast'));
    await stage.says(byId('toast'), /its password is not: this machine has no keyring/);
    await toast.getByRole('button').click();
  });

  it('shows a fan-out while it happens', async () => {
    const { page } = stage;
    const player = play('fan-out', 'parcels-1');
    await open('parcels-1');
    await stage.says('[data-id="a"]', /[1-9]\d* \/ 40/, LIMIT_MILLIS);
    await page.click(byId('tab-items'));
    await stage.shoot('rune-fan-out');
    expect(await seriousFindings(page)).toEqual([]);
    for (const absent of ['run', 'stop']) expect(await page.locator(byId(absent)).count()).toBe(0);
    await player.says(/(played)/, LIMIT_MILLIS);
    // One item has failed, so the join waits for ever; the cluster says nothing of that.
    await page.click(byId('tab-cluster'));
    await stage.says(byId('findings'), /Join cannot open.*item 23 will never come, it failed at Fetch/, LIMIT_MILLIS);
  });

  it('opens the X-ray of a merge that is stuck, and says why in a sentence', async () => {
    const { page } = stage;
    play('stuck-merge', 'order-1');
    await open('order-1');
    await stage.says('[data-id="both"]', /1 \/ 2/, LIMIT_MILLIS);
    await page.click(byId('tab-cluster'));
    const sentence = /Both has 1 of 2 and can no longer open: the branch from Stock will never come/;
    await stage.says(byId('findings'), sentence, LIMIT_MILLIS);
    // The finding leads to where it is.
    await page.locator(byId('findings')).getByRole('button', { name: sentence }).click();
    await stage.says(byId('barrier'), /Stock/, LIMIT_MILLIS);
    await stage.says(byId('barrier'), /It can no longer open: 1 of 2 are here/);
    await stage.shoot('rune-stuck-merge');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('names who holds the lock of a race', async () => {
    const { page } = stage;
    play('race', 'order-2');
    await open('order-2');
    await page.click(byId('node-first'));
    await stage.says(byId('inspector'), /Lock held by Near/, LIMIT_MILLIS);
    await stage.shoot('rune-race');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows a wait that nobody will resume, and offers nothing to do to it', async () => {
    const { page } = stage;
    play('lost-resume', 'order-3');
    await open('order-3');
    await page.click(byId('tab-waits'));
    await stage.says(byId('waits'), /lost.*Rest.*its timer was claimed/i, LIMIT_MILLIS);
    expect(await page.getByText('Fire now').count()).toBe(0);
    await stage.shoot('rune-lost');
    await page.click(byId('tab-cluster'));
    await stage.says(byId('findings'), /Lost resume.*Rest will never go on/, LIMIT_MILLIS);
    await stage.says(byId('cluster-panel'), /Rune keeps no dead letters/);
    await stage.shoot('rune-cluster');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('marks what it has joined late, in the list and at the execution', async () => {
    const { page } = stage;
    play('joined-late', 'parcels-2');
    await stage.says(byId('execution-parcels-2'), /joined late/, LIMIT_MILLIS);
    await open('parcels-2');
    await page.keyboard.press('Escape');
    await stage.soon('the mark at the execution', async () => ((await page.locator('.fact .observed-late').allTextContents()).includes('joined late') ? true : null));
  });

  it('marks when something went by unseen, in the list and on the timeline', async () => {
    const { page } = stage;
    way.cut();
    await stage.says(byId('live-banner'), /1 gap/, LIMIT_MILLIS);
    way.mend();
    await stage.says(byId('execution-order-1'), /1 gap/, LIMIT_MILLIS);
    await open('order-1');
    await page.click(byId('tab-timeline'));
    await stage.says(byId('gap-line'), /no connection to RabbitMQ; what was sent then was not heard/, LIMIT_MILLIS);
    await stage.shown('.timeline-gap');
    await stage.shoot('rune-gap');
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('keeps all of that in what is recorded', async () => {
    const { page } = stage;
    await page.click(byId('live-record'));
    await stage.says(byId('live-record'), 'Recording');
    await page.click(byId('live-detach'));
    await stage.soon('the banner to go', async () => ((await page.locator(byId('live-banner')).count()) === 0 ? true : null), LIMIT_MILLIS);
    await stage.says(byId('execution-order-1'), /Last seen running.*1 gap/);
    await stage.says(byId('execution-phase'), /^Last seen running/);
    await stage.says(byId('gap-line'), /2 gaps, the last since .*: nobody looked any more/);
    await open('order-1');
    await page.click(byId('tab-timeline'));
    await stage.shown('.timeline-gap');
    // A refused wish is told by the browser, too; everything else would be a fault of the page.
    expect(stage.complaints.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([]);
  });
});
