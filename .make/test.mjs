// Runs every check of the house and closes with one line over all of them. The Rust tests wait for servers half of the
// time, so what only needs a processor runs beside them; whatever measures frames runs alone.
// `node .make/test.mjs lint` runs the lints only.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'runeglass-test-'));

/** A check that counts as one: it passes or it fails. */
const whole = (name, folder, command, ...args) => ({
  name, folder, command, args, count: (code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }),
});

/** Rust's test runner prints one result line per test binary. */
const rust = (name, ...args) => ({
  name, folder: '.', command: 'cargo', args,
  count: (code, output) => {
    const results = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed/gm)];
    const sum = (group) => results.reduce((total, result) => total + Number(result[group]), 0);
    const failed = sum(2);
    return { passed: sum(1), failed: code !== 0 && failed === 0 ? 1 : failed };
  },
});

/** Vitest writes its results as JSON. */
const vitest = (name, script) => {
  const report = join(scratch, `${script.replace(':', '-')}.json`);
  return {
    name, folder: 'ui', command: 'npm',
    args: ['run', '--silent', script, '--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    count: (code) => {
      try {
        const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(readFileSync(report, 'utf8'));
        return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
      } catch {
        return { passed: 0, failed: 1 };
      }
    },
  };
};

const compiled = [
  whole('rustfmt', '.', 'cargo', 'fmt', '--all', '--check'),
  whole('clippy', '.', 'cargo', 'clippy', '--workspace', '--all-targets', '--locked', '--', '-D', 'warnings'),
];
const typed = [
  whole('tsc', 'ui', 'npm', 'run', '--silent', 'typecheck'),
  whole('eslint', 'ui', 'npm', 'run', '--silent', 'lint'),
];
const rustTests = rust('Rust tests', 'test', '--workspace', '--locked', '--no-fail-fast');
const pageTests = vitest('user interface', 'test');
const endToEnd = [vitest('browser, end to end', 'e2e:browser'), vitest('desktop, end to end', 'e2e:desktop')];

/** One round after the other; in a round, lanes side by side; in a lane, one check after the other. */
const rounds = process.argv[2] === 'lint'
  ? [[[...compiled, ...typed]]]
  : [[compiled], [[rustTests], [...typed, pageTests]], [endToEnd]];

/** What is not live is printed when it has ended, so that two lanes do not talk at once. */
function run(check, live) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(check.command, check.args, { cwd: check.folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const pass = (stream) => (chunk) => {
      output += chunk;
      if (live) stream.write(chunk);
    };
    child.stdout.on('data', pass(process.stdout));
    child.stderr.on('data', pass(process.stderr));
    child.on('error', (error) => resolve({ code: 1, output: String(error) }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

const total = { passed: 0, failed: 0 };
const summary = [];

async function take(check, live) {
  const title = `\n── ${check.name} ──`;
  if (live) console.log(title);
  const began = process.hrtime.bigint();
  const { code, output } = await run(check, live);
  if (!live) console.log(`${title}\n${output}`);
  const { passed, failed } = check.count(code, output);
  const seconds = (Number(process.hrtime.bigint() - began) / 1e9).toFixed(0);
  total.passed += passed;
  total.failed += failed;
  summary.push(`${failed === 0 ? '✓' : '✕'} ${check.name}: ${passed} passed, ${failed} failed (${seconds} s)`);
}

for (const lanes of rounds) {
  await Promise.all(lanes.map(async (lane, index) => {
    for (const check of lane) await take(check, index === 0);
  }));
}
rmSync(scratch, { recursive: true, force: true });
console.log(`\n${summary.join('\n')}\n`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
