/**
 * A real Chromium for tests of pages. Where none is installed the tests are skipped, and say so:
 * `apt-get install chromium` or CHROMIUM_PATH makes them run.
 */
import { chromium, type Browser } from 'playwright-core';
import { findOnPath } from '../../../src/dev/processes';
import { describeWithProgram } from '../optional-program';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program's path, or null when there is none. */
export function findBrowser(): string | null {
  const given = process.env['CHROMIUM_PATH'] ?? '';
  if (given !== '') return given;
  return NAMES.map(findOnPath).find((path) => path !== null) ?? null;
}

export function describeWithBrowser(name: string, tests: () => void): void {
  const remedy =
    'No Chromium was found; install one (apt-get install chromium) or set CHROMIUM_PATH.';
  describeWithProgram(findBrowser(), remedy, name, tests);
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser() ?? '',
    // As root, which test machines often are, Chromium runs without its sandbox only.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}
