/** A tour without a pointer: Tab, arrows and the keys that the help lists. Wherever it leads, one sees where one is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Keyboard } from './harness/keyboard';
import { Stage, byId } from './harness/stage';
import { PARCELS, STUCK } from './harness/stories';

let stage: Stage;
let keys: Keyboard;

beforeAll(async () => {
  stage = await Stage.open({ 'parcels.json': PARCELS, 'stuck.json': STUCK });
  await stage.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await stage.page.emulateMedia({ reducedMotion: 'reduce' });
  keys = new Keyboard(stage);
});

afterAll(() => stage?.close());

const gone = (selector: string): Promise<true> => stage.soon(`${selector} to be gone`, async () => ((await stage.page.locator(selector).count()) === 0 ? true : null));
/** Ctrl+K, the words, Enter. */
const goTo = async (words: string): Promise<void> => {
  await keys.press('Control+k');
  await stage.shown(byId('palette'));
  await keys.type(words);
  await keys.press('Enter');
  await gone(byId('palette'));
};
const tabTo = async (name: string): Promise<void> => {
  await keys.walkTo('.bottom-panel [role="tab"]');
  for (let step = 0; step < 8 && !(await keys.isAt(byId(`tab-${name}`))); step += 1) await keys.press('ArrowRight');
  expect(await stage.page.getAttribute(byId(`tab-${name}`), 'aria-selected')).toBe('true');
};
const value = (selector: string): Promise<string | null> => stage.page.getAttribute(selector, 'aria-valuenow');

describe('by keyboard alone', () => {
  it('opens a sample from the gallery', async () => {
    await stage.shown(byId('gallery'));
    await keys.press('Tab');
    await keys.walkTo(byId('workflow-couriers.json'));
    await keys.press('ArrowDown');
    await keys.press('ArrowUp');
    await keys.press('Enter');
    await stage.shown(byId('node-first'));
    await goTo('Ten parcels');
    await stage.shown(byId('node-label'));
  });

  it('sets a breakpoint and runs into it', async () => {
    await keys.walkTo('.canvas-flow .card');
    for (let step = 0; step < 6 && !(await keys.isAt(byId('node-label'))); step += 1) await keys.press('ArrowRight');
    await keys.press('Enter');
    await keys.press('F9');
    await stage.shown(`${byId('port-before-label')}[data-break="set"]`);
    await keys.press('F5');
    await stage.shown(`${byId('node-label')}[data-held="10"]`);
    await keys.isThere('when ten are held');
  });

  it('chooses one of the held, steps it, and edits another', async () => {
    await tabTo('held');
    await keys.press('Tab');
    await keys.walkTo('.held-row');
    await keys.press('ArrowDown');
    await keys.press('F10');
    await stage.shown(`${byId('node-label')}[data-held="9"]`);
    await keys.isThere('when one has gone on');
    await keys.walkTo(byId('edit-parameters'));
    await keys.press('Enter');
    await stage.page.locator('.json-editor .cm-content').waitFor();
    await stage.soon('the editor to have the focus', async () => ((await keys.isAt('.json-editor')) ? true : null));
    // It is no trap.
    await keys.press('Tab');
    expect(await keys.isAt('.json-editor')).toBe(false);
    await keys.walkTo('.json-editor', 'Shift+Tab');
    await keys.press('Control+a');
    await keys.type('{"output": {"text": "by hand"}}');
    await keys.press('Control+Enter');
    await stage.shown(byId('held-edited'));
    expect(await keys.isAt(byId('edit-parameters'))).toBe(true);
    await keys.press('Enter');
    await stage.soon('the editor again', async () => ((await keys.isAt('.json-editor')) ? true : null));
    await keys.press('Escape');
    await gone('.json-editor');
    await keys.isThere('when the editor is left');
  });

  it('goes on to the end', async () => {
    await keys.press('F5');
    expect(await stage.ended()).toBe('completed');
    await keys.isThere('when it is over');
  });

  it('looks into a value and copies its path', async () => {
    await goTo('All parcels');
    await keys.walkTo('.inspector [role="tab"]');
    await keys.walkTo('[role="tree"]');
    await keys.press('ArrowDown');
    await keys.press('ArrowRight');
    await keys.press('ArrowDown');
    await keys.press('Control+Shift+c');
    await stage.soon('a path on the clipboard', async () => {
      const text = await stage.page.evaluate(() => navigator.clipboard.readText());
      return /^\$\[\d\]/.test(text) ? text : null;
    });
  });

  it('goes back in time and comes to now again', async () => {
    await tabTo('timeline');
    await keys.walkTo(byId('scrubber'));
    const end = await value(byId('scrubber'));
    await keys.press('Home');
    await stage.soon('the first event', async () => ((await value(byId('scrubber'))) === '1' ? true : null));
    await keys.press('ArrowRight');
    await stage.soon('the next one', async () => ((await value(byId('scrubber'))) === '2' ? true : null));
    await keys.press('End');
    await stage.soon('now', async () => ((await value(byId('scrubber'))) === end ? true : null));
    await gone(byId('past-chip'));
  });

  it('walks through items, and looks through the join that waits for one', async () => {
    await goTo('Stuck on one');
    await stage.shown(byId('node-all'));
    await keys.press('Control+Enter');
    await stage.shown(`${byId('node-all')}[data-state="waiting_barrier"]`);
    await tabTo('items');
    await keys.walkTo(byId('items-canvas'));
    for (const key of ['End', 'Home', 'ArrowRight', 'ArrowRight']) await keys.press(key);
    expect(await value(byId('items-canvas'))).toBe('2');
    await keys.press('Enter');
    await stage.shown(byId('item-chip'));
    await goTo('All parcels');
    await stage.says(byId('barrier'), '99 / 100');
    await keys.press('Shift+F5');
    expect(await stage.ended()).toBe('halted');
    await keys.isThere('when it was stopped');
  });

  it('opens and leaves every dialog, and stands where it stood', async () => {
    const where = async (): Promise<string> => (await keys.isThere('between dialogs')).what;
    await keys.walkTo('.canvas-flow .card', 'Shift+Tab');
    const before = await where();
    for (const [key, dialog] of [['?', 'keys-help'], ['Control+k', 'palette']] as const) {
      await keys.press(key);
      await stage.shown(byId(dialog));
      await keys.press('Escape');
      await gone(byId(dialog));
      expect(await where()).toBe(before);
    }
    await keys.walkTo(byId('run-input'), 'Shift+Tab');
    await keys.press('Enter');
    await stage.shown(byId('run-input-text'));
    await keys.press('Escape');
    expect(await keys.isAt(byId('run-input'))).toBe(true);
    await keys.walkTo(byId('attach'));
    await keys.press('Enter');
    await stage.shown(byId('attach-dialog'));
    await keys.press('Escape');
    await gone(byId('attach-dialog'));
    expect(await keys.isAt(byId('attach'))).toBe(true);
    await tabTo('timeline');
    await keys.walkTo(byId('fork-here'));
    await keys.press('Enter');
    await stage.shown(byId('fork-dialog'));
    await keys.press('Escape');
    await gone(byId('fork-dialog'));
    await keys.isThere('when no fork is wanted');
  });

  it('hides and shows the panels without losing its place', async () => {
    for (const key of ['Control+b', 'Control+j', 'Control+i', 'Control+b', 'Control+j', 'Control+i']) await keys.press(key);
    await stage.shown(byId('inspector'));
  });

  it('had nothing to complain about on the way', () => {
    expect(stage.complaints).toEqual([]);
  });
});
