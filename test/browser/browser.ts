/**
 * A real Chromium for tests of pages. Where none is installed the tests are skipped, and say so:
 * `apt-get install chromium` or CHROMIUM_PATH makes them run.
 */
import { chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import { findOnPath } from '../../src/dev/processes';
import { describeWithProgram } from '../support/optional-program';
import { started } from '../support/started';

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

/** A page may take this long on a busy machine. */
const PATIENCE_MS = 60_000;

export interface TestBrowser {
  /** The errors that the pages reported. A test removes those that it expects; any other fails it. */
  complaints: string[];
  /** Each page has cookies of its own. */
  newPage: (options?: BrowserContextOptions) => Promise<Page>;
  stop: () => Promise<void>;
}

/** The browser of the tests in a `describe`. */
export function useBrowser(): TestBrowser {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });
  const browser = started(openBrowser);
  return browser;
}

async function openBrowser(): Promise<TestBrowser> {
  const complaints: string[] = [];
  const chosen = await chromium.launch({
    executablePath: findBrowser() ?? '',
    // As root, which test machines often are, Chromium runs without its sandbox only.
    chromiumSandbox: process.getuid?.() !== 0,
  });
  const newPage = async (options?: BrowserContextOptions): Promise<Page> => {
    const page = await chosen.newPage(options);
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    return page;
  };
  return { complaints, newPage, stop: () => chosen.close() };
}

/** Fills in the sign-in page that is open. */
export async function signIn(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
