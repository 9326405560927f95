/** Holding, stepping and changing what runs, in a real browser against the real engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Stage, byId } from './harness/stage';
import { PARCELS, PATIENT } from './harness/stories';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ 'parcels.json': PARCELS, 'patient.json': PATIENT });
});

afterAll(() => stage?.close());

const press = (key: string): Promise<void> => stage.page.keyboard.press(key);
const select = async (id: string): Promise<void> => {
  await stage.page.focus(byId(`node-${id}`));
  await press('Enter');
};
const portOf = (id: string, side = 'before'): Promise<string | null> => stage.page.getAttribute(byId(`port-${side}-${id}`), 'data-break');
const isHeld = (id: string, count: number): Promise<true> => stage.shown(`${byId(`node-${id}`)}[data-held="${count}"]`);
const rows = (): Promise<number> => stage.page.locator('.held-row').count();
const heldRow = (id: string, key: string): string => byId(`held-row-${id}-${key}`);
/** The output of a node, as text. */
const output = async (id: string): Promise<string> => {
  await select(id);
  await stage.page.click(byId('tab-output'));
  return (await stage.page.locator(byId('inspector')).textContent()) ?? '';
};
const ask = <T>(request: object): Promise<T> =>
  stage.page.evaluate(async (body) => {
    const answer = await fetch('api/call', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return ((await answer.json()) as { data: unknown }).data as never;
  }, JSON.stringify(request));
/** What the first held message of the latest execution sees. */
const heldContext = async (): Promise<{ [key: string]: unknown }> => {
  const { executions } = await ask<{ executions: { execution_id: string }[] }>({ type: 'snapshot' });
  const { held } = await ask<{ held: { context: { data: { json: { [key: string]: unknown } } } }[] }>({ type: 'held', execution_id: executions[0]?.execution_id });
  return held[0]?.context.data.json ?? {};
};
const commandOfPalette = async (words: string): Promise<void> => {
  await press('Control+k');
  await stage.page.fill('.palette-field input', words);
  await press('Enter');
};

describe('control', () => {
  it('sets a breakpoint by click: set, disabled, gone', async () => {
    await stage.openWorkflow('parcels.json', 'weigh');
    await stage.page.hover(byId('node-weigh'));
    for (const expected of ['set', 'disabled']) {
      await stage.page.click(byId('port-before-weigh'));
      await stage.soon(`it to be ${expected}`, async () => ((await portOf('weigh')) === expected ? true : null));
    }
    await stage.page.click(byId('port-before-weigh'));
    await stage.soon('it to be gone', async () => ((await portOf('weigh')) === 'none' ? true : null));
  });

  it('sets one with F9 at the selected node, and on an edge', async () => {
    await select('label');
    await press('F9');
    await stage.shown(`${byId('port-before-label')}[data-break="set"]`);
    expect(await stage.page.getAttribute(byId('node-label'), 'aria-label')).toContain('breakpoint before it');
    await press('F9');
    await press('F9');
    await stage.soon('it to be gone', async () => ((await stage.page.locator(byId('port-before-label')).count()) === 0 ? true : null));
    // A straight edge has no height, so there is nothing to hover over but a point of it.
    const box = await stage.page.locator('[data-edge="two"] .edge-grip').evaluate((grip) => grip.getBoundingClientRect().toJSON() as DOMRect);
    await stage.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await stage.page.click(byId('edge-port-two'));
    await stage.shown('[data-edge="two"] [data-break="set"]');
    await stage.page.click(byId('tab-breakpoints'));
    await stage.says(byId('breakpoint-0'), 'On the edge Weigh it → Print the label');
    await stage.page.click(byId('remove-breakpoint-0'));
    await stage.says(byId('breakpoints'), 'Click the left or right side');
  });

  it('complains about a condition that is none, and stops exactly once with one that is', async () => {
    await select('weigh');
    await press('F9');
    await stage.page.click(byId('edit-breakpoint-0'));
    await stage.page.fill(byId('break-condition'), '$item.(');
    await stage.page.click(byId('keep-breakpoint'));
    await stage.says(byId('break-refused'), 'expression');
    await stage.page.fill(byId('break-condition'), 'item == 7 && $item.n > 3');
    await press('Enter');
    await stage.says(byId('breakpoint-0'), /item 7.*\$item\.n > 3/);
    await stage.shoot('breakpoints');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.run();
    await isHeld('weigh', 1);
    await stage.says(byId('control-status'), '1 message held');
    await stage.page.click(byId('tab-held'));
    await stage.says(heldRow('weigh', 'each=7'), /Weigh it.*each=7.*breakpoint 1.*before its work/);
    await stage.soon('nine to have passed', async () => ((await stage.page.locator(`${byId('node-label')} [data-count="success"]`).textContent()) === '9' ? true : null));
    expect(await rows()).toBe(1);
  });

  it('shows what is held, and edits it with the place of every fault', async () => {
    await select('weigh');
    await stage.says(byId('held-inspector'), 'before its work');
    await stage.shoot('held');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('tab-context'));
    await stage.page.click(byId('edit-context'));
    const editor = stage.page.locator('.json-editor .cm-content');
    await editor.waitFor();
    await press('Control+a');
    await stage.page.keyboard.insertText('{\n  "$item": {"n": 700}\n  "$index": 7\n}');
    await stage.says(byId('payload-fault'), 'Line 3, column 3: A comma or } is needed');
    // The editor marks the line a moment after the words are there.
    await stage.shown('.json-editor .cm-lint-marker-error');
    await stage.shoot('editor');
    expect(await seriousFindings(stage.page)).toEqual([]);
    const seen = await stage.page.evaluate(() => document.activeElement?.shadowRoot !== null);
    expect(seen).toBe(true);
    await press('Escape');
    await stage.page.click(byId('edit-context'));
    await editor.waitFor();
    await stage.says('.json-editor .cm-content', /\$item/);
    const whole = await heldContext();
    await press('Control+a');
    await stage.page.keyboard.insertText(JSON.stringify({ ...whole, $item: { n: 700 } }));
    await press('Control+Enter');
    await stage.shown(byId('held-edited'));
    await stage.says(byId('held-inspector'), '700');
    await stage.says(heldRow('weigh', 'each=7'), 'edited');
  });

  it('steps only this message, and the edit arrives in the aggregate', async () => {
    await press('F10');
    await isHeld('label', 1);
    await stage.says(heldRow('label', 'each=7'), 'stepped here');
    await stage.says(byId('held-inspector'), '70000 g');
    await press('F5');
    expect(await stage.ended()).toBe('completed');
    expect(await output('all')).toContain('parcel 700, 70000 g');
    expect(await stage.page.locator(byId('control-bar')).count()).toBe(0);
    expect(await stage.page.locator(byId('tab-held')).count()).toBe(0);
  });

  it('goes back to the breakpoint in the timeline', async () => {
    await press('Alt+F5');
    await stage.shown(byId('past-chip'));
    const there = await stage.page.locator(byId('past-chip')).textContent();
    await press('Alt+F10');
    await stage.soon('one event earlier', async () => ((await stage.page.locator(byId('past-chip')).textContent()) === there ? null : true));
    await stage.page.click('.past-chip .button');
  });

  it('steps from the start: into the items, over them, to the barrier, to a node', async () => {
    await stage.page.click(byId('tab-breakpoints'));
    await stage.page.click(byId('remove-breakpoint-0'));
    await stage.page.click(byId('run-paused'));
    await isHeld('start', 1);
    await press('F10');
    await isHeld('each', 1);
    expect(await stage.page.getAttribute(byId('control-step'), 'title')).toBe('Step over the fan-out (F10)');
    await press('F11');
    await isHeld('weigh', 10);
    await stage.page.click(byId('tab-held'));
    await stage.soon('ten rows', async () => ((await rows()) === 10 ? true : null));
    await stage.shoot('stepping');
    await stage.page.click(heldRow('weigh', 'each=3'));
    await press('F10');
    await isHeld('label', 1);
    await isHeld('weigh', 9);
    await stage.page.click(heldRow('weigh', 'each=4'));
    await press('Shift+F11');
    await isHeld('weigh', 8);
    await stage.page.click(heldRow('weigh', 'each=5'));
    await stage.page.click(byId('held-drop'));
    await isHeld('weigh', 7);
    await stage.page.click(heldRow('weigh', 'each=6'));
    await stage.page.click(byId('held-duplicate'));
    await isHeld('weigh', 6);
    await select('say');
    await press('Control+F10');
    await isHeld('say', 1);
    await commandOfPalette('Continue');
    expect(await stage.ended()).toBe('completed');
    expect(await output('all')).toContain('null');
  });

  it('pauses one node and all of them, and runs up to a node', async () => {
    await stage.openWorkflow('parcels.json', 'weigh');
    await select('weigh');
    await stage.page.click(byId('node-run-until'));
    await stage.shown(`${byId('node-label')}[data-state="skipped"]`);
    expect(await stage.ended()).toBe('completed');
    expect(await stage.page.getAttribute(byId('node-say'), 'data-state')).toBe('skipped');
    await stage.page.click(byId('run-paused'));
    await isHeld('start', 1);
    await select('label');
    await stage.page.click(byId('node-pause-node'));
    await stage.shown(`${byId('node-label')} [data-mark="paused"]`);
    await stage.shown(byId('node-resume-node'));
    await stage.page.click(byId('node-resume-node'));
    await stage.shown(byId('node-pause-node'));
    await stage.shoot('paused');
    await press('Shift+F5');
    expect(await stage.ended()).toBe('halted');
  });

  it('pins an output, marks it, and what is behind it as stale', async () => {
    await stage.openWorkflow('parcels.json', 'weigh');
    expect(await stage.runToEnd()).toBe('completed');
    await select('label');
    await stage.page.click(byId('tab-output'));
    await stage.shown(byId('pin'));
    await stage.page.click(byId('pin-all'));
    await stage.shown(`${byId('node-label')} [data-mark="pin"]`);
    await stage.shown(`${byId('node-say')} [data-mark="stale"]`);
    await stage.page.click(byId('tab-breakpoints'));
    await stage.says(byId('mocks'), /Print the label\s+pinned output/);
    await stage.shoot('pinned');
    expect(await seriousFindings(stage.page)).toEqual([]);
    expect(await stage.runToEnd()).toBe('completed');
    const texts = (await output('all')).match(/parcel \d+/g) ?? [];
    expect(new Set(texts).size).toBe(1);
    await select('label');
    await stage.shown(`${byId('pin')}[aria-pressed="true"]`);
    await press('p');
    await stage.soon('it to be unpinned', async () => ((await stage.page.locator(`${byId('node-label')} [data-mark="pin"]`).count()) === 0 ? true : null));
    // What ran with the pin is not what a run would give now, and it says so.
    await stage.shown(`${byId('node-say')} [data-mark="stale"]`);
    await select('say');
    await stage.says(byId('stale-note'), '“Print the label” is not pinned or mocked any more');
    await stage.shoot('unpinned');
    expect(await seriousFindings(stage.page)).toEqual([]);
  });

  it('fires a timer of three days, and mocks an error that takes the other way', async () => {
    await stage.openWorkflow('patient.json', 'ask');
    await select('ask');
    await stage.page.click(byId('node-mock'));
    await stage.page.fill(byId('mock-message'), 'nobody is at home');
    await stage.page.click(byId('keep-mock'));
    await stage.shown(`${byId('node-ask')} [data-mark="mock"]`);
    await stage.run();
    await stage.shown(`${byId('node-rest')}[data-state="waiting_timer"]`);
    await stage.page.click(byId('tab-waits'));
    await stage.shown(byId('fire-rest'));
    await stage.shoot('timers');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(byId('fire-rest'));
    expect(await stage.ended()).toBe('completed');
    expect(await stage.page.getAttribute(byId('node-oops'), 'data-state')).toBe('success');
    await select('ask');
    await stage.says(byId('inspector'), 'Nobody is at home');
    await stage.page.click(byId('tab-breakpoints'));
    await stage.page.click(byId('remove-mock-ask'));
    await stage.run();
    await stage.shown(`${byId('node-rest')}[data-state="waiting_timer"]`);
    await stage.page.click(byId('tab-waits'));
    await stage.page.click(byId('next-timer'));
    expect(await stage.ended()).toBe('completed');
    expect(await stage.page.getAttribute(byId('node-thanks'), 'data-state')).toBe('success');
  });

  it('runs with F5 when nothing is under way', async () => {
    await press('Escape');
    await press('F5');
    await stage.shown(`${byId('node-rest')}[data-state="waiting_timer"]`);
    await press('F6');
    await stage.shown(`${byId('control-bar')}[data-control="held"]`);
    await press('Shift+F5');
    expect(await stage.ended()).toBe('halted');
  });

  it('keeps breakpoints with the workflow, and has a word for every key', async () => {
    await select('thanks');
    await press('Shift+F9');
    await stage.shown(`${byId('port-after-thanks')}[data-break="set"]`);
    await stage.page.reload();
    await stage.openWorkflow('patient.json', 'thanks');
    await stage.shown(`${byId('port-after-thanks')}[data-break="set"]`);
    await press('?');
    await stage.says(byId('keys-help'), 'Run the item to its barrier');
    await stage.shoot('keys');
    await press('Escape');
    for (const key of ['F5', 'F6', 'F7', 'F9', 'F10', 'F11', 'F12']) {
      const prevented = await stage.page.evaluate((each) => !document.body.dispatchEvent(new KeyboardEvent('keydown', { key: each, bubbles: true, cancelable: true, repeat: true })), key);
      expect(`${key} ${prevented}`).toBe(`${key} true`);
    }
  });

  it('had nothing to complain about on the way', () => {
    // The browser notes that the host has refused the condition that is none.
    expect(stage.complaints.filter((each) => !each.includes('400 (Bad Request)'))).toEqual([]);
    expect(stage.complaints.length).toBeLessThanOrEqual(1);
  });
});
