/** Joins looked through, everything that waits, and travelling in time, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, byId } from './harness/stage';
import { STUCK } from './harness/stories';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ 'stuck.json': STUCK });
});

afterAll(() => stage?.close());

const stateOf = (id: string): Promise<string | null> => stage.page.getAttribute(byId(`node-${id}`), 'data-state');
const position = async (): Promise<number> => Number(await stage.page.getAttribute(byId('scrubber'), 'aria-valuenow'));

describe('a closer look', () => {
  it('names the one item an aggregator misses, where it is and why', async () => {
    await stage.openWorkflow('stuck.json', 'all');
    await stage.run();
    await stage.shown(`${byId('node-all')}[data-state="waiting_barrier"]`);
    // By keyboard: while an execution runs the graph may still be moving under the mouse.
    await stage.page.focus(byId('node-all'));
    await stage.page.keyboard.press('Enter');
    const verdict = await stage.says(byId('barrier-verdict'), 'rests at “Customs” until');
    expect(verdict).toContain('Waits for 1 of 100 items');
    expect(await stage.page.locator('.barrier-part').count()).toBe(1);
    await stage.says('.barrier-part', /Item 37.*Waiting at.*Customs.*in \d/);
    await stage.page.click(byId('tab-waits'));
    await stage.says(byId('waits'), 'Customs');
    await stage.shoot('barrier');
    await stage.page.click('.barrier-part');
    await stage.says(byId('item-chip'), 'The way of item 37 of Each parcel');
    await stage.shown(`${byId('node-rest')}.card-selected`);
    await stage.page.keyboard.press('Escape');
  });

  it('names the parent a merge misses, and where it hangs', async () => {
    await stage.page.focus(byId('node-both'));
    await stage.page.keyboard.press('Enter');
    const verdict = await stage.says(byId('barrier-verdict'), 'Customs');
    expect(verdict).toContain('Waits for 1 of 2 branches');
    await stage.says('.barrier-part', 'All parcels');
  });

  it('lists what waits, with a countdown, and leads there', async () => {
    await stage.page.click(byId('tab-waits'));
    await stage.says(byId('waits'), /in \d+ min/);
    expect(await stage.page.locator('.waits-row').count()).toBeGreaterThanOrEqual(1);
    await stage.page.locator('.waits-row', { hasText: 'Customs' }).click();
    await stage.says(byId('inspector'), 'Customs');
  });

  it('travels: the graph, the items and the inspector show the moment', async () => {
    await stage.openWorkflow('fan-out.json', 'bill');
    expect(await stage.runToEnd()).toBe('completed');
    await stage.page.click(byId('tab-timeline'));
    await stage.shown(byId('scrubber'));
    await stage.shoot('timeline');
    const end = await position();
    await stage.page.focus(byId('scrubber'));
    await stage.page.keyboard.press('Home');
    await stage.soon('the beginning', async () => ((await position()) === 1 ? true : null));
    expect(await stateOf('report')).toBe('idle');
    await stage.page.keyboard.press('ArrowRight');
    await stage.soon('one event on', async () => ((await position()) === 2 ? true : null));
    expect(await stateOf('monthly')).toBe('running');
    const box = await stage.page.locator(byId('scrubber')).boundingBox();
    if (!box) throw new Error('the scrubber is gone');
    const began = await stage.page.evaluate(() => performance.now());
    await stage.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await stage.soon('the middle', async () => ((await stateOf('bill')) === 'running' ? true : null));
    const took = (await stage.page.evaluate(() => performance.now())) - began;
    console.log(`scrubbing to the middle of ${end} events took ${took.toFixed(0)} ms until it was seen, with the test's own looking`);
    await stage.shown(byId('back-to-now'));
    await stage.page.click(byId('tab-items'));
    await stage.shown(byId('items-running'));
    await stage.shoot('past');
    await stage.page.click(byId('tab-timeline'));
    await stage.page.click(byId('back-to-now'));
    await stage.soon('now', async () => ((await stateOf('report')) === 'success' ? true : null));
    expect(await position()).toBe(end);
  });

  it('plays what happened', async () => {
    await stage.page.focus(byId('scrubber'));
    await stage.page.keyboard.press('Home');
    await stage.soon('the beginning', async () => ((await position()) === 1 ? true : null));
    await stage.page.selectOption('.play-speed select', '4');
    await stage.page.click(byId('play'));
    await stage.soon('the end of it', async () => ((await stateOf('report')) === 'success' ? true : null), 20_000);
  });

  it('had nothing to complain about on the way', () => {
    expect(stage.complaints).toEqual([]);
  });
});
