/** Where things are: the binaries under test, a folder of workflows that may be edited, a place for pictures. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const UI = resolve(import.meta.dirname, '../..');
const SAMPLES = resolve(UI, '../workflows');

export interface Place {
  workflows: string;
  store: string;
  shot: (name: string) => string;
  remove: () => void;
}

export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'runeglass-e2e-'));
  const workflows = join(folder, 'workflows');
  cpSync(SAMPLES, workflows, { recursive: true });
  const shots = process.env.RUNEGLASS_SHOTS ?? join(tmpdir(), 'runeglass-shots');
  mkdirSync(shots, { recursive: true });
  return {
    workflows,
    store: join(folder, 'store.sqlite'),
    shot: (name) => join(shots, `${name}.png`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function binary(variable: string, fallback: string): string {
  const path = resolve(UI, process.env[variable] ?? fallback);
  if (!existsSync(path)) throw new Error(`${path} is not there: build it, or set ${variable}.`);
  return path;
}
