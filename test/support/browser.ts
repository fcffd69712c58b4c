/**
 * A real Chromium for tests of pages. Where none is installed the tests are skipped, and say so:
 * `apt-get install chromium` or CHROMIUM_PATH makes them run.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program's path, or null when there is none. */
export function findBrowser(): string | null {
  const given = process.env['CHROMIUM_PATH'] ?? '';
  if (given !== '') return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(isProgram) ?? null;
}

/** `describe`, or a skipped one with a loud word about why. */
export function describeWithBrowser(name: string, tests: () => void): void {
  if (findBrowser() !== null) {
    describe(name, tests);
    return;
  }
  process.stderr.write(
    `SKIPPED: ${name}. No Chromium was found; install one (apt-get install chromium) or set ` +
      'CHROMIUM_PATH.\n',
  );
  describe.skip(name, tests);
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser() ?? '',
    // As root, which test machines often are, Chromium runs without its sandbox only.
    chromiumSandbox: process.getuid?.() !== 0,
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
