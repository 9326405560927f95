/** Finding one's way: the palette, the areas of fan-outs, the notes of the file; and everybody can use all of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { makeCase } from './harness/case';
import { Stage, byId } from './harness/stage';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

const open = async (query: string): Promise<void> => {
  await stage.page.keyboard.press('Control+k');
  await stage.shown(byId('palette'));
  await stage.page.keyboard.type(query);
};

describe('finding', () => {
  it('opens a workflow, runs it and selects a node without the mouse', async () => {
    await stage.shown(byId('workflow-hello.json'));
    await open('invoice');
    await stage.page.keyboard.press('Enter');
    await stage.shown(byId('node-bill'));
    await open('run invoice');
    await stage.page.keyboard.press('Enter');
    expect(await stage.ended()).toBe('completed');
    await open('make the');
    await stage.shoot('palette');
    await stage.page.keyboard.press('Enter');
    await stage.says(byId('inspector'), 'Make the invoice');
  });

  it('goes to an item by its number, and closes with Escape', async () => {
    await open('7');
    await stage.page.keyboard.press('Enter');
    await stage.says(byId('item-chip'), 'The way of item 7 of Each customer');
    await open('nothing is called like this');
    await stage.says(byId('palette'), 'Nothing is called like that.');
    await stage.page.keyboard.press('Escape');
    await stage.soon('the palette to go away', async () => ((await stage.page.locator(byId('palette')).count()) === 0 ? true : null));
  });

  it('paints the areas of fan-outs on request, around what is repeated', async () => {
    await stage.page.focus(byId('node-bill'));
    await stage.page.keyboard.press('Escape');
    await stage.page.keyboard.press('g');
    await stage.shown(byId('area-each'));
    await stage.page.keyboard.press('1');
    // Looked at all at once: the graph may still be moving into its place.
    const [area, inside, outside] = await stage.page.evaluate(
      (selectors) => selectors.map((selector) => document.querySelector(selector)?.getBoundingClientRect().toJSON() as DOMRect),
      [byId('area-each'), byId('node-bill'), byId('node-gather')],
    );
    if (!area || !inside || !outside) throw new Error('something is not drawn');
    expect(area.left < inside.left && area.right > inside.right && area.top < inside.top).toBe(true);
    // Behind it, or where the graph goes on below it.
    expect(outside.left > area.right || outside.top > area.bottom).toBe(true);
    await stage.shoot('areas');
    await stage.page.click(byId('areas'));
    expect(await stage.page.locator(byId('area-each')).count()).toBe(0);
  });

  it('shows the notes of the file', async () => {
    await open('parcel desk');
    await stage.page.keyboard.press('Enter');
    await stage.shown(byId('notes'));
    await stage.page.click(`${byId('notes')} summary`);
    await stage.says(byId('notes'), 'Fragile parcels ride');
  });

  it('keeps nobody out: axe has no serious finding in any panel', async () => {
    await stage.openWorkflow('couriers.json', 'first');
    await stage.runToEnd();
    const found: { [scene: string]: string[] } = {};
    for (const tab of ['timeline', 'items', 'waits']) {
      await stage.page.click(byId(`tab-${tab}`));
      await stage.page.click(byId('node-first'));
      found[tab] = await seriousFindings(stage.page);
    }
    await open('');
    found.palette = await seriousFindings(stage.page);
    await stage.page.keyboard.press('Escape');
    await stage.page.emulateMedia({ colorScheme: 'dark' });
    found.dark = await seriousFindings(stage.page);
    expect(found).toEqual({ timeline: [], items: [], waits: [], palette: [], dark: [] });
  });

  it('remembers a recording that was opened, and offers it again', async () => {
    const { id, file } = makeCase(stage.place);
    await stage.page.setInputFiles(byId('recording-file'), file);
    await stage.shown(`${byId(`execution-${id}`)}[aria-current="true"]`);
    await stage.openWorkflow('hello.json', 'say');
    // The same file once more is the same execution.
    await stage.page.setInputFiles(byId('recording-file'), file);
    await stage.shown(`${byId(`execution-${id}`)}[aria-current="true"]`);
    await stage.page.click(byId('open-gallery'));
    await stage.says(byId('recent'), 'case.runeglass');
    await stage.shoot('recent');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await open('open case');
    await stage.page.keyboard.press('Enter');
    await stage.shown(`${byId(`execution-${id}`)}[aria-current="true"]`);
    await stage.page.click(byId('open-gallery'));
    await stage.page.click(byId('forget-case.runeglass'));
    await stage.soon('the list to be gone', async () => ((await stage.page.locator(byId('recent')).count()) === 0 ? true : null));
  });

  it('had nothing to complain about on the way', () => {
    expect(stage.complaints).toEqual([]);
  });
});
