/** Reasons, forks, failed items again, and two executions side by side, in a real browser. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousFindings } from './harness/axe';
import { Stage, byId } from './harness/stage';
import { STUCK } from './harness/stories';
import { type Web, startWeb } from './harness/web';

let stage: Stage;
let web: Web;

const node = (id: string, type: string, name: string, parameters: object = {}): object => ({ id, type, name, parameters });

/** A price is asked for outside, and what is dear goes another way. */
const quote = (url: string): object => ({
  name: 'A quote',
  description: 'A price is asked for; what is dear has to be approved.',
  sample_input: { pieces: 5 },
  nodes: [
    node('start', 'trigger', 'Order'),
    node('price', 'http', 'Ask the price', { method: 'GET', url }),
    node('total', 'edit', 'Total', { assignments: [{ name: 'total', value: '{{ $price.body.price * $trigger.pieces }}' }] }),
    node('dear', 'conditional', 'Is it dear?', { expression: '$total.$json.total > 100', true_edge_id: 'yes', false_edge_id: 'no' }),
    node('approve', 'simulate', 'Approve', { latency_ms: 900, output: { approved: true } }),
    node('book', 'log', 'Book it', { message: 'booked' }),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'price' },
    { id: 'b', src: 'price', dst: 'total' },
    { id: 'c', src: 'total', dst: 'dear' },
    { id: 'yes', src: 'dear', dst: 'approve', label: 'yes' },
    { id: 'no', src: 'dear', dst: 'book', label: 'no' },
  ],
});

/** Thirty letters are sent; three of them are refused the first time. */
const letters = (url: string): object => ({
  name: 'Thirty letters',
  description: 'Thirty letters are sent; the post office refuses three of them the first time.',
  nodes: [
    node('start', 'trigger', 'Morning'),
    node('each', 'split', 'Each letter', { input_array: '{{ Array.from({ length: 30 }, (_, index) => index) }}' }),
    node('send', 'http', 'Send it', { method: 'GET', url: `${url}{{ $item % 10 === 4 ? '/once/' : '/letter/' }}{{ $item }}`, raise_on_status: '5xx' }),
    node('all', 'aggregator', 'All letters'),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'each' },
    { id: 'b', src: 'each', dst: 'send' },
    { id: 'c', src: 'send', dst: 'all' },
  ],
});

beforeAll(async () => {
  web = await startWeb();
  stage = await Stage.open({ 'quote.json': quote(web.url('/price')), 'letters.json': letters(web.url('')), 'stuck.json': STUCK });
});

afterAll(async () => {
  await stage?.close();
  await web?.close();
});

const verdict = (id: string): Promise<string | null> => stage.page.getAttribute(byId(`node-${id}`), 'data-verdict');
const openId = (): Promise<string> =>
  stage.soon('an open execution', async () => {
    const id = await stage.page.locator('[data-testid^="execution-"][data-roving][aria-current="true"]').getAttribute('data-testid', { timeout: 500 }).catch(() => null);
    return id?.replace('execution-', '') ?? null;
  });

async function select(id: string): Promise<void> {
  await stage.page.focus(byId(`node-${id}`));
  await stage.page.keyboard.press('Enter');
}

/** In place of what the editor of a fork holds. */
const write = async (text: string): Promise<void> => {
  await stage.page.click(`${byId('fork-editor')} .cm-content`);
  await stage.page.keyboard.press('Control+a');
  await stage.page.keyboard.insertText(text);
};

describe('why', () => {
  it('says what everything waits for, and leads there', async () => {
    await stage.openWorkflow('stuck.json', 'all');
    await stage.run();
    await stage.shown(`${byId('node-all')}[data-state="waiting_barrier"]`);
    const said = await stage.says(byId('why-waiting'), 'item 37 rests in');
    expect(said).toContain('All parcels has 99 of 100');
    await stage.shoot('why-stuck');
    await stage.page.locator(`${byId('why-waiting')} [data-link="rest"]`).first().click();
    await stage.says(byId('inspector'), /\$rest/);
    await stage.page.click(byId('stop'));
    await stage.ended();
  });

  it('tells where the time went and paints the way that took longest', async () => {
    await stage.openWorkflow('quote.json', 'dear');
    expect(await stage.runToEnd()).toBe('completed');
    await stage.says(byId('why-slowest'), 'Approve took most of it');
    await stage.page.click(byId('show-way'));
    await stage.shown(byId('highlight-chip'));
    expect(await stage.page.getAttribute(byId('node-approve'), 'data-way')).toBe('on');
    expect(await stage.page.getAttribute(byId('node-book'), 'data-way')).toBe('off');
    await stage.shoot('why-way');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.page.click(`${byId('highlight-chip')} button`);
  });

  it('tells why a node went this way, with the values, and why another did not run', async () => {
    await select('dear');
    await stage.page.click(byId('tab-why'));
    await stage.says(byId('why'), '“yes” to');
    const said = await stage.says(byId('why'), 'True');
    expect(said).toContain('$total.$json.total');
    expect(said).toContain('200');
    await stage.shoot('why-node');
    await select('book');
    const not = await stage.says(byId('why-node'), 'It did not run, because');
    expect(not).toContain('Is it dear? found');
    await stage.page.locator(`${byId('why-node')} [data-link="dear"]`).first().click();
    await stage.says(byId('inspector'), /\$dear/);
  });
});

describe('forks', () => {
  it('lists what would be asked before it happens, and keeps the recorded answer by default', async () => {
    const parent = await openId();
    const asked = web.asked.length;
    await select('total');
    await stage.page.click(byId('fork-from-its-end'));
    await stage.shown(byId('fork-editor'));
    await write('{"$json": {"total": 7}');
    await stage.says(byId('fork-dialog'), 'Line 1, column');
    await write('{"$json": {"total": 7}}');
    await stage.says(byId('fork-preview'), 'Nothing outside is asked');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.shoot('fork');
    await stage.page.click(byId('start-fork'));
    await stage.soon('another execution', async () => ((await openId()) === parent ? null : true));
    expect(await stage.ended()).toBe('completed');
    await stage.soon('the other way', async () => ((await stage.page.getAttribute(byId('node-book'), 'data-state')) === 'success' ? true : null));
    expect(await stage.page.getAttribute(byId('node-approve'), 'data-state')).toBe('skipped');
    expect(web.asked.length).toBe(asked);
    await stage.page.keyboard.press('Escape');
    await stage.page.locator('.react-flow__pane').click({ position: { x: 5, y: 5 } });
    await stage.says(byId('family'), /From event \d+ with another output/);
    await stage.shoot('family');
    await stage.page.click(byId(`family-${parent}`));
    await stage.soon('the parent as it was', async () => ((await stage.page.getAttribute(byId('node-approve'), 'data-state')) === 'success' ? true : null));
  });

  it('asks for real only after a yes', async () => {
    const asked = web.asked.length;
    await stage.page.click(byId('tab-timeline'));
    await stage.page.focus(byId('scrubber'));
    await stage.page.keyboard.press('Home');
    await stage.says(byId('play-where'), 'event 1 of');
    await stage.page.click(byId('fork-here'));
    await stage.says(byId('fork-dialog'), 'Its input can be changed');
    await write('{"pieces": 1}');
    await stage.page.check(byId('fork-run-price'));
    await stage.says(byId('fork-preview'), 'really be asked');
    expect(await stage.page.isDisabled(byId('start-fork'))).toBe(true);
    await stage.shoot('fork-asks');
    await stage.page.check(byId('fork-agree'));
    await stage.page.click(byId('start-fork'));
    expect(await stage.ended()).toBe('completed');
    await stage.soon('one question', async () => (web.asked.length === asked + 1 ? true : null));
    await stage.soon('the cheap way', async () => ((await stage.page.getAttribute(byId('node-book'), 'data-state')) === 'success' ? true : null));
  });

  it('runs the failed items again, and nothing else', async () => {
    await stage.openWorkflow('letters.json', 'send');
    expect(await stage.runToEnd()).toBe('completed');
    const parent = await openId();
    await stage.page.click(byId('tab-items'));
    await stage.shown(byId('rerun-send'));
    await stage.shoot('rerun');
    const asked = web.asked.length;
    await stage.page.click(byId('rerun-send'));
    await stage.says(byId('fork-preview'), '3 questions would really be asked');
    await stage.page.check(byId('fork-agree'));
    await stage.page.click(byId('start-fork'));
    await stage.soon('another execution', async () => ((await openId()) === parent ? null : true));
    expect(await stage.ended()).toBe('completed');
    expect(web.asked.slice(asked).toSorted()).toEqual(['/once/14', '/once/24', '/once/4']);
    await stage.soon('no failure', async () => ((await stage.page.locator('.failure-group').count()) === 0 ? true : null));
  });

  it('runs one item again, from the grid and from a node of its way', async () => {
    const parent = await openId();
    await stage.page.fill(byId('items-jump'), '7');
    await stage.page.keyboard.press('Enter');
    await stage.page.click(byId('rerun-item'));
    await stage.says(byId('fork-dialog'), 'The item each=7 runs again');
    await stage.says(byId('fork-preview'), '1 question would really be asked');
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.shoot('rerun-item');
    const asked = web.asked.length;
    await stage.page.check(byId('fork-agree'));
    await stage.page.click(byId('start-fork'));
    await stage.soon('another execution', async () => ((await openId()) === parent ? null : true));
    expect(await stage.ended()).toBe('completed');
    expect(web.asked.slice(asked)).toEqual(['/letter/7']);
    await stage.soon('all of them', async () => ((await stage.page.getAttribute(byId('items'), 'data-total')) === '30' ? true : null));
    await stage.page.fill(byId('items-jump'), '8');
    await stage.page.keyboard.press('Enter');
    await select('send');
    await stage.page.click(byId('rerun-here'));
    await stage.says(byId('fork-dialog'), 'The item each=8 runs again, from Send it on');
    await stage.page.keyboard.press('Escape');
  });
});

describe('two executions side by side', () => {
  it('paints what is equal, changed and on one side only, and goes to the first divergence', async () => {
    const rows = stage.page.locator('[data-testid^="execution-"][data-roving]', { hasText: 'A quote' });
    // Newest first: the fork with one piece, the fork with another total, the first one.
    const [cheap, , dear] = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-testid')?.replace('execution-', '') ?? ''));
    await stage.page.click(byId(`execution-${cheap}`));
    await stage.shown(byId('node-book'));
    await stage.page.hover(byId(`execution-${dear}`));
    await stage.page.click(byId(`compare-${dear}`));
    await stage.says(byId('compare-bar'), /Different inputs: \$\.pieces/);
    await stage.soon('verdicts', async () => ((await verdict('approve')) === 'only_a' ? true : null));
    expect(await verdict('book')).toBe('only_b');
    expect(await verdict('price')).toBe('changed');
    expect(await verdict('total')).toBe('changed');
    await stage.page.click(byId('first-divergence'));
    await stage.shown(byId('compare-pair'));
    await stage.says(byId('first-difference'), 'Order');
    await stage.page.locator('.compare-row', { hasText: 'Total' }).click();
    await stage.says(byId('json-diff'), /A.*total.*200.*B.*total.*40/s);
    expect(await seriousFindings(stage.page)).toEqual([]);
    await stage.shoot('compare');
  });

  it('swaps both sides, and is found in the palette', async () => {
    await stage.page.click(byId('compare-swap'));
    await stage.soon('the other side', async () => ((await verdict('approve')) === 'only_b' ? true : null));
    await stage.page.click(byId('compare-close'));
    await stage.soon('states again', async () => ((await verdict('approve')) === null ? true : null));
    await stage.page.keyboard.press('Control+k');
    await stage.page.fill(byId('palette-field'), 'compare with quote');
    await stage.page.keyboard.press('Enter');
    await stage.shown(byId('compare-bar'));
    await stage.page.click(byId('compare-close'));
  });

  it('had nothing to complain about on the way', () => {
    expect(stage.complaints).toEqual([]);
  });
});
