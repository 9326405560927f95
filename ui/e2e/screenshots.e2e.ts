/** Ten scenes in two sizes and two themes, to be looked at by people: `npm run screenshots`, not a part of the tests. */
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Cluster } from './harness/cluster';
import { Stage, byId } from './harness/stage';
import { DIAMONDS, PARCELS, PATIENT, STUCK, weighed } from './harness/stories';

process.env.RUNEGLASS_SHOTS ??= resolve(import.meta.dirname, '../../target/screenshots');

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ 'stuck.json': STUCK, 'ten-thousand.json': DIAMONDS, 'ten-parcels.json': PARCELS, 'three-days.json': PATIENT });
  // Nothing glides, so every picture is of a page that has arrived.
  await stage.page.emulateMedia({ reducedMotion: 'reduce' });
});

afterAll(() => stage?.close());

const press = (key: string): Promise<void> => stage.page.keyboard.press(key);
const select = async (id: string): Promise<void> => {
  await stage.page.focus(byId(`node-${id}`));
  await press('Enter');
};
const tab = (name: string): Promise<void> => stage.page.click(byId(`tab-${name}`));
const position = (): Promise<string | null> => stage.page.getAttribute(byId('scrubber'), 'aria-valuenow');
const ran = async (path: string, id: string): Promise<void> => {
  await stage.openWorkflow(path, id);
  await stage.runToEnd();
};
/** Once more, with another input. */
const ranWith = async (input: object): Promise<void> => {
  await stage.page.click(byId('run-input'));
  await stage.page.fill(byId('run-input-text'), JSON.stringify(input));
  await stage.page.click(byId('run-with-input'));
  await stage.says('.top-title', 'Running');
  await stage.ended();
};
const stop = async (): Promise<void> => {
  await stage.page.click(byId('stop'));
  await stage.ended();
};

describe('scenes', () => {
  it('01 the gallery', async () => {
    await stage.shown(byId('gallery'));
    await stage.shoot('01-gallery');
  });

  it('02 a fan-out while it runs, every item a cell', async () => {
    await stage.openWorkflow('ten-thousand.json', 'check');
    await stage.run();
    await tab('items');
    await stage.says(byId('items-success'), /[1-9],\d{3}/);
    await stage.shoot('02-fan-out');
    await stage.ended();
  });

  it('03 a join that waits, looked through', async () => {
    await stage.openWorkflow('stuck.json', 'all');
    await stage.run();
    await stage.shown(`${byId('node-all')}[data-state="waiting_barrier"]`);
    await select('all');
    await stage.says(byId('barrier'), '99 / 100');
    await tab('items');
    await stage.shown(byId('items-canvas'));
    await stage.shoot('03-barrier');
  });

  it('04 everything that waits', async () => {
    for (const path of ['patience.json', 'three-days.json', 'three-days.json']) {
      await stage.openWorkflow(path, 'rest');
      await stage.run();
    }
    await stage.shown(`${byId('node-rest')}[data-state="waiting_timer"]`);
    await tab('waits');
    await stage.says(byId('waits'), 'Customs');
    await stage.shoot('04-waits');
    await stop();
  });

  it('05 a moment that is over, marked', async () => {
    await ran('couriers.json', 'first');
    await tab('timeline');
    await select('first');
    await stage.page.focus(byId('scrubber'));
    for (let step = 0; step < 5; step += 1) {
      const before = await position();
      await press('Shift+ArrowLeft');
      await stage.soon('another moment', async () => ((await position()) === before ? null : true));
    }
    // The list of firings follows the counts above it a moment later.
    await stage.soon('as many firings as are counted', async () => {
      const counted = await stage.page.textContent(`${byId('inspector')} [data-count="success"]`);
      return (await stage.page.textContent('.picker-total')) === `of ${counted}` ? true : null;
    });
    await press('m');
    await stage.page.fill(byId('bookmark-note'), 'the first courier wins');
    await press('Enter');
    await stage.shoot('05-past');
  });

  it('06 held at a breakpoint, and edited', async () => {
    await stage.openWorkflow('ten-parcels.json', 'label');
    await select('label');
    await press('F9');
    await stage.shown(`${byId('port-before-label')}[data-break="set"]`);
    await stage.run();
    await stage.shown(`${byId('node-label')}[data-held="10"]`);
    await tab('held');
    await stage.page.click(byId('held-row-label-each=3'));
    await stage.page.click(byId('edit-parameters'));
    await stage.page.locator('.json-editor .cm-content').waitFor();
    await stage.shoot('06-held');
    await press('Escape');
    await press('F5');
    await stage.ended();
  });

  it('07 a fork, before it begins', async () => {
    await ran('review.json', 'price');
    await select('price');
    await stage.page.click(byId('fork-from-its-end'));
    await stage.shown(byId('fork-editor'));
    await stage.says(byId('fork-preview'), 'asked');
    await stage.shoot('07-fork');
    await press('Escape');
  });

  it('08 two executions, compared on the graph', async () => {
    await ranWith({ order: { id: 4712, customer: 'Ada', items: [{ price: 900, quantity: 30 }] } });
    const before = stage.page.locator('[data-testid^="execution-"][data-roving]', { hasText: 'Order review' }).nth(1);
    await before.focus();
    await press('c');
    await stage.shown(byId('compare-bar'));
    await stage.page.click(byId('first-divergence'));
    await stage.page.locator('.compare-row', { hasText: 'Price the order' }).click();
    await stage.shown(byId('json-diff'));
    await stage.shoot('08-compare');
    await stage.page.click(byId('compare-close'));
  });

  it('09 why a node did not run', async () => {
    await select('ship');
    await tab('why');
    await stage.says(byId('why-node'), 'because');
    await stage.shoot('09-why');
  });
});

describe('a live cluster', () => {
  let cluster: Cluster;
  let live: Stage;

  beforeAll(async () => {
    cluster = await Cluster.start();
    cluster.worker();
    cluster.worker();
    // Who hears what the workers say; without it that would pile up.
    cluster.serve('master', '--store', join(cluster.folder, 'master.db'));
    process.env.XDG_DATA_HOME = cluster.folder;
    live = await Stage.open();
    await live.page.emulateMedia({ reducedMotion: 'reduce' });
  });

  afterAll(async () => {
    await live?.close();
    await cluster?.end();
  });

  it('10 attached, and only looking', async () => {
    await live.shown(byId('attach'));
    await cluster.attach(live);
    await live.page.locator(byId('toast')).getByRole('button').click();
    const id = cluster.run('parcels', weighed(1_000));
    await live.shown(byId(`execution-${id}`), 30_000);
    await live.page.click(byId(`execution-${id}`));
    await live.says('[data-id="all"]', /[1-9]\d* \/ 1,000/, 30_000);
    await live.says(byId('cluster-panel'), /Worker.*message/, 30_000);
    await live.says(`${byId('cluster-panel')} td strong`, /[1-9]/, 30_000);
    await live.shoot('10-live');
  });
});

/** Not among the ten: what they have no room for. */
describe('also looked at', () => {
  it('11 the items, and what failed', async () => {
    await stage.openWorkflow('ten-thousand.json', 'check');
    await stage.runToEnd();
    await tab('items');
    await stage.page.click(byId('items-failed'));
    await stage.page.focus(byId('items-canvas'));
    await press('End');
    await press('Enter');
    await stage.shown(byId('item-chip'));
    await stage.shown(byId('rerun-item'));
    await stage.says(byId('inspector'), 'Expression failed');
    await stage.page.click(byId('items-failed'));
    await stage.shoot('11-items');
  });

  it('12 an array as a table, and the areas of fan-outs', async () => {
    await ran('fan-out.json', 'gather');
    await press('g');
    await select('gather');
    await tab('output');
    await stage.page.locator('[aria-label^="Show as a table"]').first().click();
    await stage.shown(byId('json-table'));
    await stage.shoot('12-table');
    await stage.page.click(byId('areas'));
  });

  it('13 every key', async () => {
    await press('?');
    await stage.shown(byId('keys-help'));
    await stage.shoot('13-keys');
    await press('Escape');
  });

  it('14 on a stage', async () => {
    await stage.openWorkflow('patience.json', 'cache');
    await stage.page.click(byId('presenter'));
    await stage.page.click(byId('run'));
    await stage.soon('the race to be on', async () => ((await stage.page.getAttribute(byId('node-first'), 'data-state')) === 'success' ? true : null));
    await stage.page.click(byId('play'));
    await stage.shoot('14-stage');
    await stage.page.click(byId('presenter'));
  });

  it('15 in high contrast', async () => {
    await stage.openWorkflow('stuck.json', 'all');
    await stage.run();
    await select('all');
    await press('Control+k');
    await stage.page.fill(byId('palette-field'), 'high contrast');
    await press('Enter');
    await stage.shoot('15-contrast');
  });
});

describe('a full disk', () => {
  let full: Stage;

  beforeAll(async () => {
    full = await Stage.open({ 'ten-thousand.json': DIAMONDS }, 'small');
    await full.page.emulateMedia({ reducedMotion: 'reduce' });
  });

  afterAll(() => full?.close());

  it('16 what it did not keep', async () => {
    await full.openWorkflow('ten-thousand.json', 'check');
    await full.page.click(byId('run'));
    await full.shown(byId('toast'), 60_000);
    await full.page.locator(byId('toast')).getByRole('button').click();
    await full.page.click(byId('tab-timeline'));
    await full.shown(byId('gap-line'));
    await full.shoot('16-full-disk');
  });
});
