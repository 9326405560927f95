/** What the window says when a cluster, or the host that looks into it, is really gone: servers end here, and come back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Cluster } from './harness/cluster';
import { binary } from './harness/place';
import { Process } from './harness/process';
import { Stage, byId } from './harness/stage';
import { weighed } from './harness/stories';

const LIMIT_MILLIS = 60_000;
const NOT_LIVE = /^NOT LIVE since \d\d:\d\d:\d\d$/;

let cluster: Cluster;
let stage: Stage;

async function begin(): Promise<void> {
  cluster = await Cluster.start();
  // Saved connections of this machine are none of a test's business.
  process.env.XDG_DATA_HOME = cluster.folder;
  stage = await Stage.open();
}

async function end(): Promise<void> {
  await stage?.close();
  await cluster?.end();
}

async function open(id: string): Promise<void> {
  await stage.shown(byId(`execution-${id}`), LIMIT_MILLIS);
  await stage.page.click(byId(`execution-${id}`));
}

/** Where a machine has no keyring that is told, and is not the matter here. */
async function closeToasts(): Promise<void> {
  const toasts = stage.page.locator(byId('toast'));
  while ((await toasts.count()) > 0) await toasts.first().getByRole('button').click();
}

describe('a cluster of the Rune services whose RabbitMQ is gone', () => {
  const playing: Process[] = [];

  function play(name: string, id: string): Process {
    const player = new Process(binary('RUNEGLASS_RUNE_SCENE', '../target/debug/rune-scene'), [cluster.amqp, cluster.redis, name, id]);
    playing.push(player);
    return player;
  }

  beforeAll(async () => {
    await begin();
    await play('services', '-').says(/(playing services)/, LIMIT_MILLIS);
    await cluster.attach(stage);
    await stage.says(byId('live-banner'), /Rune services/, LIMIT_MILLIS);
    play('stuck-merge', 'order-1');
    await open('order-1');
    await stage.says('[data-id="both"]', /1 \/ 2/, LIMIT_MILLIS);
    await stage.page.click(byId('tab-cluster'));
    await stage.says(byId('findings'), /can no longer open/, LIMIT_MILLIS);
    await closeToasts();
  });

  afterAll(async () => {
    await Promise.all(playing.map((each) => each.end()));
    await end();
  });

  it('is not live, and says since when and what is old', async () => {
    await stage.says(byId('live-word'), /^LIVE$/);
    await cluster.stop('RabbitMQ');
    await stage.says(byId('live-word'), NOT_LIVE, LIMIT_MILLIS);
    expect(await stage.page.locator(byId('mode-chip')).textContent()).toBe('NOT LIVE');
    await stage.says(byId('live-heard'), /none can be heard now/);
    await stage.says(byId('live-trouble'), /RabbitMQ/);
    await stage.says(byId('cluster-panel'), /Queuesas of|Queues *as of/);
    await stage.says(byId('execution-order-1'), /Last seen running/);
    await stage.says(byId('execution-phase'), /^Last seen running/);
    await stage.says(byId('left-chip'), /^As it was seen last, at \d\d:\d\d:\d\d$/);
    await stage.shoot('gone-broker');
    expect(await seriousFindings(stage.page)).toEqual([]);
  });

  it('is live again when RabbitMQ is, with a gap', async () => {
    await cluster.restart('RabbitMQ');
    await stage.says(byId('live-word'), /^LIVE$/, LIMIT_MILLIS);
    expect(await stage.page.locator(byId('mode-chip')).textContent()).toBe('LIVE · read only');
    expect(await stage.page.locator(byId('live-trouble')).count()).toBe(0);
    await stage.says(byId('live-banner'), /1 gap/);
    await stage.says(byId('execution-order-1'), /Running.*1 gap/, LIMIT_MILLIS);
    await stage.shoot('gone-back');
    expect(await seriousFindings(stage.page)).toEqual([]);
  });

  it('is nowhere live after detaching', async () => {
    await stage.page.click(byId('live-detach'));
    await stage.soon('the banner to go', async () => ((await stage.page.locator(byId('live-banner')).count()) === 0 ? true : null), LIMIT_MILLIS);
    expect(await stage.page.locator(byId('mode-chip')).textContent()).toBe('LOCAL · web');
    expect(await stage.page.evaluate(() => document.body.innerText)).not.toMatch(/\bLIVE\b/);
  });

  it('lets in whoever comes because Redis is down, and is seen whole when it is back', async () => {
    await cluster.stop('Redis');
    await stage.page.click(byId('attach'));
    await cluster.fill(stage, 'guest');
    await stage.page.click(byId('attach-test'));
    await stage.says(byId('attach-steps'), /Nobody listens at the address of Redis\..*You can attach all the same/, LIMIT_MILLIS);
    await stage.shoot('gone-door');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('attach-now'));
    await stage.says(byId('live-trouble'), /Redis/, LIMIT_MILLIS);
    await stage.says(byId('live-banner'), /Rune services/, LIMIT_MILLIS);
    await stage.page.click(byId('tab-cluster'));
    await stage.says(byId('cluster-panel'), /workflow\.execution|are empty/, LIMIT_MILLIS);
    await closeToasts();
    await stage.shoot('gone-redis-first');
    await cluster.restart('Redis');
    await stage.soon('no trouble', async () => ((await stage.page.locator(byId('live-trouble')).count()) === 0 ? true : null), LIMIT_MILLIS);
    await stage.says(byId('live-word'), /^LIVE$/, LIMIT_MILLIS);
  });
});

describe('a cluster of our own workers', () => {
  let id = '';

  beforeAll(async () => {
    await begin();
    cluster.worker();
    await cluster.attach(stage);
    id = cluster.run('parcels', weighed(900));
    await open(id);
    await stage.says('[data-id="all"]', /[1-9]\d* \/ 900/, LIMIT_MILLIS);
    await stage.page.click(byId('tab-cluster'));
    await closeToasts();
  });

  afterAll(end);

  it('goes on being seen in its log while RabbitMQ is gone', async () => {
    await cluster.stop('RabbitMQ');
    await stage.says(byId('live-trouble'), /RabbitMQ/, LIMIT_MILLIS);
    await stage.says(byId('live-word'), /^LIVE$/);
    await stage.says(byId('live-heard'), /their log is followed/);
    await stage.says(byId('cluster-panel'), /Queues *as of/);
    await stage.shoot('gone-broker-own');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await cluster.restart('RabbitMQ');
    await stage.soon('no trouble', async () => ((await stage.page.locator(byId('live-trouble')).count()) === 0 ? true : null), LIMIT_MILLIS);
  });

  it('is not live while Redis is gone, and live again when it is back', async () => {
    await cluster.stop('Redis');
    await stage.says(byId('live-word'), NOT_LIVE, LIMIT_MILLIS);
    await stage.says(byId('live-heard'), /their log cannot be read now/);
    await stage.says(byId('cluster-panel'), /Redis memory.*as of/);
    await stage.says(byId(`execution-${id}`), /Last seen running/);
    await stage.shoot('gone-redis');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await cluster.restart('Redis');
    await stage.says(byId('live-word'), /^LIVE$/, LIMIT_MILLIS);
    await stage.says(byId(`execution-${id}`), /Running/);
  });

  it('is not live when the host that looks has crashed, and nothing is offered that it would have to do', async () => {
    stage.crashHost();
    await stage.says(byId('live-word'), NOT_LIVE);
    expect(await stage.page.locator(byId('mode-chip')).textContent()).toBe('NOT LIVE');
    await stage.says(byId('live-trouble'), /Runeglass does not answer/);
    await stage.shown(byId('left-chip'));
    await stage.says(byId(`execution-${id}`), /Last seen running/);
    for (const absent of ['live-detach', 'live-record']) expect(await stage.page.locator(byId(absent)).count()).toBe(0);
    await stage.shoot('gone-host');
    expect(await seriousFindings(stage.page)).toEqual([]);
  });
});
