/** The real window started with files, as a double click does; and what it remembers from one time to the next. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseFiles, makeCase } from './harness/case';
import { DesktopStage } from './harness/desktop';
import { byId } from './harness/stage';

const START_LIMIT_MILLIS = 30_000;

let stage: DesktopStage;
let kept: CaseFiles;

beforeAll(async () => {
  stage = await DesktopStage.open();
  kept = makeCase(stage.place);
});

afterAll(() => stage?.close());

const start = (...args: string[]): Promise<unknown> => stage.start([...args, '--store', stage.place.store]);
/** What the window has written down of its place. */
const keptPlace = (): string => {
  const file = join(dirname(stage.place.store), 'data/dev.runeglass.desktop/window.json');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};
/** Executions in the list. */
const listed = (count: number): Promise<true> =>
  stage.soon(`${count} executions`, async () => {
    const rows = await stage.window.run<number>('return document.querySelectorAll(\'[data-testid^="execution-"][data-roving]\').length');
    return rows === count ? true : null;
  });
const itsGraph = (): Promise<true> =>
  stage.soon('its graph', async () => ((await stage.states()).ship === 'success' ? true : null), START_LIMIT_MILLIS);

describe('a double click', () => {
  it('on a recording shows its graph', async () => {
    await start(kept.file);
    await itsGraph();
    expect(await stage.attribute(byId(`execution-${kept.id}`), 'aria-current')).toBe('true');
    await stage.window.screenshot(stage.place.shot('desktop-case'));
    await stage.stop();
  });

  it('on the same recording again shows it again', async () => {
    await start(kept.file);
    await itsGraph();
    expect(await stage.text(byId('toast'))).toBe('');
    await stage.stop();
  });

  it('on a document plays it', async () => {
    await start(kept.document);
    await stage.soon('a replay', async () => ((await stage.text(byId('mode-chip'))).includes('REPLAY') ? true : null), START_LIMIT_MILLIS);
    await stage.shown(byId('node-ship'));
    await stage.stop();
  });

  it('on a store opens it', async () => {
    await stage.start([kept.store]);
    await stage.shown(byId(`execution-${kept.id}`), START_LIMIT_MILLIS);
    await stage.stop();
  });

  it('on something else says what can be opened', async () => {
    await start('/nowhere/case.runeglass');
    await stage.soon('a sentence', async () => ((await stage.text(byId('full-page'))).includes('there is no file /nowhere/case.runeglass') ? true : null), START_LIMIT_MILLIS);
    await stage.stop();
  });
});

describe('the next time', () => {
  it('the window is where it was, and as large', async () => {
    const wanted = { x: 120, y: 60, width: 1111, height: 777 };
    await start(stage.place.workflows);
    await stage.shown(byId('gallery'), START_LIMIT_MILLIS);
    await stage.window.moveTo(wanted);
    await stage.soon('its place to be kept', async () => (keptPlace().includes('1111') ? true : null));
    expect(await stage.window.place()).toEqual(wanted);
    await stage.stop();
    await start(stage.place.workflows);
    await stage.shown(byId('gallery'), START_LIMIT_MILLIS);
    expect(await stage.window.place()).toEqual(wanted);
  });

  it('what was open is one click away', async () => {
    const name = basename(kept.store);
    // Something else has run here, so that it can be told which store is shown.
    await stage.window.click(byId('story-run-hello.json'));
    await listed(2);
    await stage.window.click(byId('open-gallery'));
    await stage.shown(byId(`recent-${name}`));
    await stage.window.screenshot(stage.place.shot('desktop-recent'));
    await stage.window.click(byId(`recent-${name}`));
    await listed(1);
    await stage.shown(byId(`execution-${kept.id}`));
  });

  it('a file that is gone is told of kindly, and can be forgotten', async () => {
    const name = basename(kept.file);
    renameSync(kept.file, `${kept.file}.moved`);
    await stage.window.click(byId('open-gallery'));
    await stage.soon('it to be missed', async () => ((await stage.text(byId(`recent-${name}`))).includes('not there any more') ? true : null));
    await stage.window.click(byId(`recent-${name}`));
    await stage.soon('a sentence', async () => ((await stage.text(byId('toast'))).includes('it may have been moved') ? true : null));
    await stage.window.click(byId(`forget-${name}`));
    await stage.soon('it to be gone', async () => ((await stage.window.run<boolean>('return document.querySelector(arguments[0]) === null', byId(`recent-${name}`))) ? true : null));
  });
});
