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

/** A page that changes while it is looked at makes axe stumble; it is looked at again, and not for ever. */
const MOST_LOOKS = 3;

export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const violations = await looked(page, MOST_LOOKS);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 3).join(', ')}`);
}

async function looked(page: Page, looks: number): Promise<Finding[]> {
  try {
    return await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run: (where: Document, options: object) => Promise<{ violations: Finding[] }> } };
      // The name of a card begins with its title, and tells in words what the numbers on it show: it does not repeat them.
      const rules = { 'label-content-name-mismatch': { enabled: false } };
      // Nobody reads what is right, and naming all of it takes most of the time.
      return (await axe.run(document, { rules, resultTypes: ['violations'] })).violations;
    });
  } catch (stumbled) {
    if (looks <= 1) throw stumbled;
    return looked(page, looks - 1);
  }
}
