/**
 * The binary carries the page it was built with. With RUNEGLASS_FRESH_UI=1 the page of ui/dist is tested instead, or the
 * one in the folder RUNEGLASS_DIST while ui/dist is being built into a binary.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page, Route } from 'playwright-core';

const DIST = process.env.RUNEGLASS_DIST ?? resolve(import.meta.dirname, '../../dist');
const KINDS: { [ending: string]: string } = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

/** Opens the printed address, and then the fresh page where one is wanted. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url);
  if (process.env.RUNEGLASS_FRESH_UI !== '1') return;
  const { origin } = new URL(url);
  await page.route(`${origin}/**`, fresh);
  // Once more and without the token: a request that was redirected cannot be replaced.
  await page.goto(origin);
}

async function fresh(route: Route): Promise<void> {
  const { pathname } = new URL(route.request().url());
  const file = join(DIST, pathname === '/' ? 'index.html' : pathname);
  if (pathname.startsWith('/api/') || !existsSync(file)) return route.continue();
  // Asked for all the same, because its headers (the content security policy above all) are part of the test.
  const response = await route.fetch();
  const kind = KINDS[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return route.fulfill({ status: 200, body: readFileSync(file), headers: { ...response.headers(), 'content-type': kind } });
}
