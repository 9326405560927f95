/** Ten scenes in two sizes and two themes, to be looked at by people: `npm run screenshots`, not a part of the tests. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Stage, byId } from './harness/stage';
import { DIAMONDS, STUCK } from './harness/stories';

process.env.RUNEGLASS_SHOTS ??= resolve(import.meta.dirname, '../../target/screenshots');

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ 'stuck.json': STUCK, 'ten-thousand.json': DIAMONDS });
  // Nothing glides, so every picture is of a page that has arrived.
  await stage.page.emulateMedia({ reducedMotion: 'reduce' });
});

afterAll(() => stage?.close());

const select = async (id: string): Promise<void> => {
  await stage.page.focus(byId(`node-${id}`));
  await stage.page.keyboard.press('Enter');
};
const tab = (name: string): Promise<void> => stage.page.click(byId(`tab-${name}`));
const position = (): Promise<string | null> => stage.page.getAttribute(byId('scrubber'), 'aria-valuenow');
const ran = async (path: string, id: string): Promise<void> => {
  await stage.openWorkflow(path, id);
  await stage.runToEnd();
};

describe('scenes', () => {
  it('01 the gallery', async () => {
    await stage.shown(byId('gallery'));
    await stage.shoot('01-gallery');
  });

  it('02 a fan-out while it runs', async () => {
    await stage.openWorkflow('ten-thousand.json', 'check');
    await stage.run();
    await tab('items');
    await stage.shown(byId('items-running'));
    await stage.shoot('02-live');
    await stage.ended();
  });

  it('03 the items, and what failed', async () => {
    await stage.page.click(byId('items-failed'));
    await stage.page.focus(byId('items-canvas'));
    await stage.page.keyboard.press('End');
    await stage.page.keyboard.press('Enter');
    await stage.shown(byId('item-chip'));
    await stage.page.click(byId('items-failed'));
    await stage.shoot('03-items');
  });

  it('04 a join that waits, looked through', async () => {
    await stage.openWorkflow('stuck.json', 'all');
    await stage.run();
    await stage.shown(`${byId('node-all')}[data-state="waiting_barrier"]`);
    await select('all');
    await stage.says(byId('barrier'), '99 / 100');
    await tab('waits');
    await stage.says(byId('waits'), 'Customs');
    await stage.shoot('04-barrier');
  });

  it('05 what a node reads', async () => {
    await ran('double-check.json', 'offer');
    await tab('timeline');
    await select('offer');
    await tab('input');
    await stage.shown(byId('used-inputs'));
    await stage.shoot('05-reads');
  });

  it('06 two executions compared', async () => {
    await ran('review.json', 'price');
    await stage.page.click(byId('run-input'));
    await stage.page.fill(byId('run-input-text'), '{"order": {"id": 4712, "customer": "Ada", "items": [{"price": 5, "quantity": 3}]}}');
    await stage.page.click(byId('run-with-input'));
    await stage.says('.top-title', 'Running');
    await stage.ended();
    await select('price');
    await tab('output');
    await stage.page.click(byId('compare'));
    await stage.says(byId('json-diff'), 'changed');
    await stage.shoot('06-compare');
  });

  it('07 a moment that is over, marked', async () => {
    await ran('couriers.json', 'first');
    await tab('timeline');
    await select('first');
    await stage.page.focus(byId('scrubber'));
    for (let step = 0; step < 5; step += 1) {
      const before = await position();
      await stage.page.keyboard.press('Shift+ArrowLeft');
      await stage.soon('another moment', async () => ((await position()) === before ? null : true));
    }
    await stage.page.keyboard.press('m');
    await stage.page.fill(byId('bookmark-note'), 'the first courier wins');
    await stage.page.keyboard.press('Enter');
    await stage.shoot('07-past');
  });

  it('08 a failure, and the way around it', async () => {
    await ran('resilient.json', 'billing');
    await select('billing');
    await stage.says(byId('inspector'), '503');
    await stage.shoot('08-failure');
  });

  it('09 an array as a table, and the areas of fan-outs', async () => {
    await ran('fan-out.json', 'gather');
    await stage.page.keyboard.press('g');
    await select('gather');
    await tab('output');
    await stage.page.locator('[aria-label^="Show as a table"]').first().click();
    await stage.shown(byId('json-table'));
    await stage.shoot('09-table');
    await stage.page.click(byId('areas'));
  });

  it('10 on a stage', async () => {
    await stage.openWorkflow('patience.json', 'cache');
    await stage.page.click(byId('presenter'));
    await stage.page.click(byId('run'));
    await stage.soon('the race to be on', async () => ((await stage.page.getAttribute(byId('node-first'), 'data-state')) === 'success' ? true : null));
    await stage.page.click(byId('play'));
    await stage.shoot('10-stage');
  });
});
