// Measures Node-RED's split and join on this machine, for `make bench`, and prints one line of JSON:
// {"version", "node", "items", "runs": {"2": [milliseconds, …], "3": […]}}, by nodes per item.
//
// Node-RED comes from the npm registry into target/node-red. It runs in a process of its own that ends with the
// figures, without editor, without HTTP and with its flows in memory.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The newest that runs on Node 20. */
const VERSION = '4.1.8';
const ITEMS = 10_000;
const RUNS = 7;
const MINUTES = 60_000;

const home = resolve(fileURLToPath(import.meta.url), '../../target/node-red');
const packageFile = join(home, 'node_modules/node-red/package.json');
const installed = () => (existsSync(packageFile) ? JSON.parse(readFileSync(packageFile, 'utf8')).version : undefined);

function install() {
  if (installed() === VERSION) return;
  console.error(`Installing Node-RED ${VERSION} into target/node-red …`);
  mkdirSync(home, { recursive: true });
  const args = ['install', '--prefix', home, '--no-save', '--no-audit', '--no-fund', '--omit=optional', `node-red@${VERSION}`];
  const { status, stderr } = spawnSync('npm', args, { encoding: 'utf8', timeout: 5 * MINUTES });
  if (status !== 0) throw new Error(`npm cannot install it: ${stderr?.trim().split('\n').pop() ?? 'it took too long'}`);
}

/** One tab: begin → split → `count` nodes per item → join → end. */
function flow(count) {
  const tab = `tab${count}`;
  const id = (name) => `${tab}-${name}`;
  const set = (property) => ({ type: 'change', rules: [{ t: 'set', p: property, pt: 'msg', to: 'true', tot: 'bool' }] });
  const perItem = [
    { type: 'function', func: 'msg.payload.double = msg.payload.n * 2; return msg;', outputs: 1, libs: [] },
    set('payload.seen'),
    set('payload.done'),
  ].slice(0, count);
  const begin = `global.get('bench').ready[${count}]((payload) => node.send({ payload }));`;
  const end = `global.get('bench').end(msg.payload); return null;`;
  const nodes = [
    { type: 'function', func: 'return msg;', initialize: begin, outputs: 1, libs: [] },
    { type: 'split', arraySplt: 1, arraySpltType: 'len' },
    ...perItem,
    { type: 'join', mode: 'auto' },
    { type: 'function', func: end, outputs: 0, libs: [] },
  ];
  const wired = nodes.map((node, at) => ({
    id: id(at), z: tab, x: 0, y: 0, name: '', wires: at + 1 < nodes.length ? [[id(at + 1)]] : [], ...node,
  }));
  return [{ id: tab, type: 'tab', label: tab }, ...wired];
}

async function start(bench) {
  const RED = createRequire(packageFile)('node-red');
  const userDir = mkdtempSync(join(tmpdir(), 'node-red-'));
  process.on('exit', () => rmSync(userDir, { recursive: true, force: true }));
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify([2, 3].flatMap(flow)));
  RED.init({
    userDir, flowFile: 'flows.json', httpAdminRoot: false, httpNodeRoot: false, disableEditor: true,
    telemetry: { enabled: false }, logging: { console: { level: 'error' } }, functionGlobalContext: { bench },
  });
  const started = new Promise((resolve) => { RED.events.once('flows:started', resolve); });
  await RED.start();
  await started;
}

/** Time from handing over the array to having all results in order. */
async function once(bench, count) {
  const begin = await bench.begin[count];
  const items = Array.from({ length: ITEMS }, (_, n) => ({ n }));
  const ended = new Promise((end) => { bench.end = end; });
  const began = performance.now();
  begin(items);
  const results = await ended;
  const millis = performance.now() - began;
  const right = results.length === ITEMS && results.every((result, n) => result.n === n && result.double === 2 * n);
  if (!right) throw new Error('Node-RED gave other results than expected');
  return Math.round(millis * 10) / 10;
}

async function measure() {
  // Without HTTP nothing else keeps the process up while Node-RED starts.
  setInterval(() => {}, MINUTES);
  const bench = { begin: {}, ready: {}, end: () => {} };
  for (const count of [2, 3]) bench.begin[count] = new Promise((ready) => { bench.ready[count] = ready; });
  await start(bench);
  const runs = { 2: [], 3: [] };
  for (let run = 0; run <= RUNS; run += 1) {
    for (const count of [2, 3]) {
      const millis = await once(bench, count);
      // The first run warms it up.
      if (run > 0) runs[count].push(millis);
    }
  }
  console.log(JSON.stringify({ version: installed(), node: process.version, items: ITEMS, runs }));
  process.exit(0);
}

if (process.argv[2] === 'measure') {
  await measure();
} else {
  try {
    install();
    const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'measure'], { encoding: 'utf8', timeout: 3 * MINUTES });
    if (child.status !== 0) throw new Error(`it did not run: ${child.stderr.trim().split('\n').pop()}`);
    process.stdout.write(child.stdout.trim().split('\n').pop() + '\n');
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
