/** What axe finds that keeps somebody from using the page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { target: unknown[] }[];
}

export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run: (where: Document, options: object) => Promise<{ violations: Finding[] }> } };
    // The name of a card begins with its title, and tells in words what the numbers on it show: it does not repeat them.
    return (await axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: false } } })).violations;
  });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 3).join(', ')}`);
}
