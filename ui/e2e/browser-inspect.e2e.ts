/** A first visit, values looked at closely, moments marked, a talk on a stage: all of it in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Stage, byId } from './harness/stage';

const node = (id: string, type: string, name: string, parameters: object = {}): object => ({ id, type, name, parameters });

/** One payload that is just small enough to be sent, and one that is not. */
const HEAVY = {
  name: 'Heavy luggage',
  nodes: [
    node('start', 'trigger', 'Start'),
    node('many', 'simulate', 'Many rows', { output: { rows: '{{ Array.from({ length: 20000 }, (_, id) => ({ id, name: "row " + id })) }}' } }),
    node('huge', 'simulate', 'Far too much', { output: { text: '{{ "0123456789".repeat(300000) }}' } }),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'many' },
    { id: 'b', src: 'many', dst: 'huge' },
  ],
};

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ 'heavy.json': HEAVY });
});

afterAll(() => stage?.close());

const select = async (id: string): Promise<void> => {
  await stage.page.focus(byId(`node-${id}`));
  await stage.page.keyboard.press('Enter');
};
const inspector = byId('inspector');

describe('a first visit', () => {
  it('begins in the gallery, where one click runs a story', async () => {
    await stage.shown(byId('gallery'));
    expect(await stage.page.locator('.story').count()).toBe(12);
    await stage.says(byId('story-fan-out.json'), 'Every customer');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('story-run-fan-out.json'));
    await stage.shown(byId('node-bill'));
    expect(await stage.ended()).toBe('completed');
    await stage.page.click(byId('open-gallery'));
    await stage.says(byId('story-fan-out.json'), 'Completed');
  });
});

describe('the inspector', () => {
  it('tells what a node reads, and leads to the node that made it', async () => {
    await stage.openWorkflow('double-check.json', 'offer');
    expect(await stage.runToEnd()).toBe('completed');
    await select('offer');
    await stage.page.click(byId('tab-input'));
    await stage.says(byId('used-inputs'), /\$inputs\.order\.goods"lamp"from\s*Each order/);
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.locator('.used-row', { hasText: '$inputs.price.each' }).click();
    await stage.says(`${inspector} h2`, 'Ask for the price');
  });

  it('tells what was filled into the parameters', async () => {
    await select('offer');
    await stage.page.click(byId('tab-parameters'));
    await stage.page.getByRole('button', { name: 'Filled in' }).click();
    await stage.says(byId('json-diff'), 'changed');
  });

  it('compares with the execution before, and with another firing', async () => {
    await stage.openWorkflow('review.json', 'score');
    await stage.runToEnd();
    await stage.page.click(byId('run-input'));
    await stage.page.fill(byId('run-input-text'), '{"order": {"id": 1, "customer": "Ada", "items": [{"price": 5, "quantity": 3}]}}');
    await stage.page.click(byId('run-with-input'));
    await stage.soon('a second execution', async () => ((await stage.page.locator('[data-testid^="execution-"][data-roving]').count()) === 4 ? true : null));
    await stage.ended();
    await select('price');
    await stage.page.click(byId('tab-output'));
    await stage.page.click(byId('compare'));
    await stage.says(byId('json-diff'), '2 changed');
    await stage.says(byId('json-diff'), /before.*total.*99\.5.*now.*total.*15/);
    await stage.page.click(byId('run-input'));
    expect(await stage.page.inputValue(byId('run-input-text'))).toContain('"Ada"');
    await stage.page.keyboard.press('Escape');
  });

  it('shows an array as a table, and twenty thousand rows at once', async () => {
    await stage.openWorkflow('heavy.json', 'many');
    expect(await stage.runToEnd()).toBe('completed');
    await select('many');
    await stage.says(inspector, /Array\(20,000\)/);
    await stage.page.focus('[role="tree"]');
    await stage.page.keyboard.press('ArrowDown');
    const took = await stage.page.evaluate(async () => {
      const began = performance.now();
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 't', bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return performance.now() - began;
    });
    await stage.says(byId('json-table'), '20,000 rows');
    console.log(`a table of 20,000 rows was painted after ${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(1_000);
    expect(await stage.framesPerSecond('.json-table', 'scroll')).toBeGreaterThanOrEqual(30);
  });

  it('says the true size of what is too large', async () => {
    await select('huge');
    await stage.says(`${inspector} .payload-cut`, '3.0 MB in all');
  });
});

describe('moments', () => {
  it('are marked with a note, found again, and stepped to at one node', async () => {
    await stage.openWorkflow('fan-out.json', 'bill');
    await stage.runToEnd();
    await stage.page.click(byId('tab-timeline'));
    await select('bill');
    await stage.page.focus(byId('scrubber'));
    await stage.page.keyboard.press('Shift+ArrowLeft');
    await stage.shown(byId('past-chip'));
    await stage.page.keyboard.press('m');
    await stage.shown(byId('bookmark-note'));
    await stage.page.keyboard.type('half of them are made');
    await stage.page.keyboard.press('Enter');
    await stage.page.keyboard.press('End');
    await stage.says(byId('bookmarks'), 'half of them are made');
    await stage.page.keyboard.press('PageUp');
    await stage.shown(byId('past-chip'));
    await stage.page.keyboard.press('End');
    await stage.soon('now', async () => ((await stage.page.locator(byId('past-chip')).count()) === 0 ? true : null));
  });

  it('are found by the nodes of the graph, too', async () => {
    await stage.page.focus(byId('node-bill'));
    await stage.page.keyboard.press('f');
    await stage.page.keyboard.type('aggregator');
    await stage.says(byId('graph-search'), '1 found');
    await stage.page.keyboard.press('Enter');
    await stage.says(`${inspector} h2`, 'All invoices');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.keyboard.press('Escape');
    expect(await stage.page.locator(byId('graph-search')).count()).toBe(0);
  });
});

describe('on a stage', () => {
  it('type is large, values are hidden, and what happens is played slowly', async () => {
    await stage.openWorkflow('patience.json', 'cache');
    await stage.page.click(byId('presenter'));
    await stage.page.click(byId('run'));
    await stage.shown(byId('past-chip'));
    await stage.soon('the cache to be asked', async () => ((await stage.page.getAttribute(byId('node-cache'), 'data-state')) === 'running' ? true : null));
    const sizes = await stage.page.evaluate(() =>
      [...document.querySelectorAll('.card-title, .card .state-word, .card-type')].map((each) => each.getBoundingClientRect().height / 1.3),
    );
    expect(Math.min(...sizes.filter((size) => size > 0))).toBeGreaterThanOrEqual(13);
    await stage.page.keyboard.press('Control+i');
    await select('cache');
    await stage.says(inspector, 'Values are hidden');
    expect(await stage.page.textContent(inspector)).not.toContain('yesterday it was not');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('presenter'));
  });

  it('has a theme of high contrast without a serious finding', async () => {
    for (let click = 0; click < 3; click += 1) await stage.page.click(byId('theme-toggle'));
    expect(await stage.page.evaluate(() => document.documentElement.dataset.theme)).toBe('contrast');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('open-gallery'));
    expect(await seriousFindings(stage.page)).toEqual([]);
  });

  it('had nothing to complain about on the way', () => {
    expect(stage.complaints).toEqual([]);
  });
});
