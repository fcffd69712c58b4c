/**
 * Lets the Temporal SDK download the Temporal CLI into the cache folder.
 *
 * The SDK can only download by starting a server, and cannot be interrupted while it does. So it
 * runs in a process of its own: this file again, as that process's main module. Offline it is
 * given up after a few seconds, and temporal-cli.ts goes on to the next way.
 */
import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine } from '../lib/log-line';
import type { Acquisition, BuildTarget } from './temporal-cli-target';

/** By then the SDK has found the archive and begun to write it, or there is no way out. */
const FIRST_BYTES_TIMEOUT_MS = 8_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const REPORT_INTERVAL_MS = 10_000;

export async function downloadTemporalCli(target: BuildTarget, log: LogLine): Promise<Acquisition> {
  const folder = mkdtempSync(join(target.folder, 'download-'));
  const child = fork(__filename, [folder, `v${target.version}`], { stdio: 'ignore' });
  child.once('error', () => undefined);
  try {
    log('downloading the Temporal CLI');
    const startedAt = Date.now();
    let reportAt = startedAt + REPORT_INTERVAL_MS;
    while (child.exitCode === null && child.signalCode === null) {
      const elapsedMs = Date.now() - startedAt;
      const begun = readdirSync(folder).length > 0;
      if (!begun && elapsedMs > FIRST_BYTES_TIMEOUT_MS) return { unavailable: 'no answer' };
      if (elapsedMs > DOWNLOAD_TIMEOUT_MS) return { unavailable: 'the download is too slow' };
      if (Date.now() >= reportAt) {
        log(`downloading the Temporal CLI: ${Math.round(elapsedMs / 1000)} s`);
        reportAt += REPORT_INTERVAL_MS;
      }
      await sleep(100);
    }
    const file = readdirSync(folder).find((name) => !name.endsWith('.downloading'));
    if (file === undefined) return { unavailable: 'the download failed (no internet access?)' };
    renameSync(join(folder, file), target.binary);
    return { path: target.binary };
  } finally {
    child.kill('SIGKILL');
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}

/** What the process of its own does: one start and stop leaves the binary in the folder. */
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
