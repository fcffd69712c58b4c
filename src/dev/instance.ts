/**
 * One running `npm start` for each data folder, and a clean folder for the one that runs.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { stopLeftoverPostgres } from '../db/local-postgres';
import { lockHolder, tryLock } from '../lib/file-lock';
import type { LogLine } from '../lib/log-line';
import type { DataLayout } from './layout';
import { stopLeftovers } from './run-record';
import { SetupError } from '../lib/setup-error';

/**
 * Takes the data folder for this process and stops what an earlier one left running in it.
 * @returns what gives the folder back
 * @throws SetupError when another `npm start` has it
 */
export async function takeDataFolder(layout: DataLayout, log: LogLine): Promise<() => void> {
  mkdirSync(layout.logs, { recursive: true });
  // Others may pass through but not look: run by root, PostgreSQL is another user.
  chmodSync(layout.folder, 0o711);
  const lock = tryLock(layout.lock);
  if (!lock.held) throw alreadyRunning(layout, lock.holder.pid);
  await stopLeftovers(layout.runRecord, log);
  await stopLeftoverPostgres(layout.postgres, log);
  return lock.release;
}

/** @throws SetupError when a `npm start` runs on the folder */
export function refuseWhileRunning(layout: DataLayout): void {
  const holder = lockHolder(layout.lock);
  if (holder !== null) throw alreadyRunning(layout, holder.pid);
}

function alreadyRunning(layout: DataLayout, pid: number): SetupError {
  return new SetupError(
    `\`npm start\` is already running on ${layout.folder} (pid ${pid}); stop it first.`,
  );
}
