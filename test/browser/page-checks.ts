/** What every page is checked for in a browser, and the pictures of `npm run screenshots`. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { scaled } from '../support/scale';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const FOLDER = process.env['SCREENSHOTS'] ?? '';

/** What pages are made of. */
const OF_PAGES = [':(top,glob)src/**/*.tsx', ':(top)src/kit/pages'];

/**
 * Whether every page is looked at: at night, for pictures, and where the branch changes what pages are made of. Most
 * changes touch none of it, and the sweep takes longer than all that people do on the pages.
 */
export const LOOKS_AT_PAGES = FOLDER !== '' || scaled(pagesHaveChanged(), true);

function pagesHaveChanged(): boolean {
  const base = git('merge-base', 'HEAD', 'origin/main');
  return base === null || git('diff', '--name-only', base, '--', ...OF_PAGES) !== '';
}

/** What git prints; null where it cannot say, such as in a copy without a history. */
function git(...command: string[]): string | null {
  const { status, stdout } = spawnSync('git', command, { cwd: __dirname, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** The colours of the dark scheme are for the nightly run and for the pictures. */
const BOTH = ['light', 'dark'] as const;
const SCHEMES = FOLDER === '' ? scaled<readonly ('light' | 'dark')[]>(['light'], BOTH) : BOTH;

/** The findings of axe-core, of every impact. A script element is refused by the policy of the pages. */
export async function violations(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  await page.evaluate(AXE);
  const options =
    scheme === 'dark'
      ? // Only the colours differ in dark.
        { runOnly: ['color-contrast'] }
      : { rules: { 'duplicate-id': { enabled: true } } };
  return page.evaluate(async (chosen) => {
    interface Finding {
      id: string;
      nodes: { html: string }[];
    }
    const { axe } = globalThis as unknown as {
      axe: { run: (options: object) => Promise<{ violations: Finding[] }> };
    };
    const { violations: all } = await axe.run(chosen);
    return all.map(
      ({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
    );
  }, options);
}

/** On a first visit, compressed. */
const LOADED_BYTES_MAX = 150_000;

/** What the page has loaded: itself, style, scripts, fonts and pictures. */
function loadedBytes(page: Page): Promise<number> {
  return page.evaluate(() =>
    ['navigation', 'resource']
      .flatMap((kind) => performance.getEntriesByType(kind) as PerformanceResourceTiming[])
      // What it asks for later is not counted.
      .filter(({ initiatorType }) => initiatorType !== 'fetch')
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );
}

/** The findings on the page that is open, and its pictures. */
export async function lookAt(page: Page, path: string): Promise<string[]> {
  if (!LOOKS_AT_PAGES) return [];
  const found: string[] = [];
  const bytes = await loadedBytes(page);
  if (bytes > LOADED_BYTES_MAX) found.push(`${path}: it loads ${bytes} bytes`);
  for (const scheme of SCHEMES) {
    // This is what the button for the theme does: a page that is shown once cannot be opened again.
    await page.evaluate(async (name) => {
      document.documentElement.className = `js ${name}`;
      // Colours change slowly, and the end of a parent's change starts the change of what inherits it.
      for (;;) {
        await new Promise(requestAnimationFrame);
        const animations = document.getAnimations();
        if (animations.length === 0) return;
        for (const animation of animations) animation.finish();
      }
    }, scheme);
    const faults = await violations(page, scheme);
    found.push(...faults.map((fault) => `${scheme} ${path}: ${fault}`));
    await picture(page, path, scheme);
  }
  for (const width of [390, 1280]) {
    found.push(...(await cutAt(page, width)).map((fault) => `${path}: ${fault}`));
  }
  return found;
}

/** The same for each of these pages of a site. */
export async function lookAtEach(
  page: Page,
  site: string,
  paths: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const path of LOOKS_AT_PAGES ? paths : []) {
    await page.goto(site + path);
    found.push(...(await lookAt(page, path)));
  }
  return found;
}

/** The captions of the tables that are wider than their place on the page. */
export function cutTables(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.table-scroll')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map((place) => place.getAttribute('aria-label') ?? ''),
  );
}

/** What does not fit: the page itself, and tables that have to be pushed aside. */
async function cutAt(page: Page, width: number): Promise<string[]> {
  await page.setViewportSize({ width, height: 800 });
  const needed = await page.evaluate(() => document.documentElement.scrollWidth);
  const tables = await cutTables(page);
  return [
    ...(needed > width ? [`the page is ${needed} px wide`] : []),
    ...tables.map((caption) => `the table ${caption} is cut`),
  ].map((fault) => `at ${width} px, ${fault}`);
}

/** `npm run screenshots`: every page in light, dark, and as wide as a phone. */
export async function picture(page: Page, path: string, scheme: 'light' | 'dark'): Promise<void> {
  if (FOLDER === '') return;
  mkdirSync(FOLDER, { recursive: true });
  const name = path
    .replace(/token=.*/, '')
    .replace(/[/?=]+/g, '-')
    .replace(/_[0-9A-Z]{26}/, '')
    .slice(1);
  await page.screenshot({ path: join(FOLDER, `${name}-${scheme}.png`), fullPage: true });
  if (scheme === 'dark') return;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: join(FOLDER, `${name}-phone.png`), fullPage: true });
  await page.setViewportSize({ width: 1280, height: 800 });
}
