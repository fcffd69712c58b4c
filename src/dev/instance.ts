/**
 * One running `npm start` for each data folder, and the record of the processes that it started
 * (`.gateway/run.json`): when it is killed, the next start finds and stops them by this record.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { type DataLayout, readPrivateJson, writePrivateJson } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';
import { lockHolder, tryLock } from './file-lock';
import { stopLeftoverPostgres } from './local-postgres';
import {
  commandLineOf,
  identifyProcess,
  isSameProcess,
  type ProcessIdentity,
  stopProcess,
} from './processes';
import type { LogLine } from './progress';

interface RecordedProcess extends ProcessIdentity {
  name: string;
  /** Words that its command line contains. */
  command: string;
}

const LEFTOVER_GRACE_MS = 3_000;

/**
 * Takes the data folder for this process and stops what an earlier one left running in it.
 * @returns what releases the folder
 * @throws SetupError when another `npm start` uses it
 */
export async function takeDataFolder(layout: DataLayout, log: LogLine): Promise<() => void> {
  mkdirSync(layout.logs, { recursive: true });
  // Other users can pass through the folder but not list it, because PostgreSQL is another user when
  // root runs it.
  chmodSync(layout.folder, 0o711);
  const lock = tryLock(layout.lock);
  if (!lock.held) throw alreadyRunning(layout, lock.holder.pid);
  await stopRecorded(layout.runRecord, log);
  await stopLeftoverPostgres(layout.postgres, log);
  return lock.release;
}

/** @throws SetupError when `npm start` is running on the folder */
export function refuseWhileRunning(layout: DataLayout): void {
  const holder = lockHolder(layout.lock);
  if (holder !== null) throw alreadyRunning(layout, holder.pid);
}

/** Stops everything that an earlier `npm start` left running, even when its record is damaged. */
export async function stopLeftovers(layout: DataLayout, log: LogLine): Promise<void> {
  await stopRecorded(layout.runRecord, log).catch(() => undefined);
  await stopLeftoverPostgres(layout.postgres, log);
}

export class RunRecord {
  readonly #path: string;
  readonly #processes = new Map<string, RecordedProcess>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Records a process. A restarted part replaces its earlier process. */
  add(name: string, pid: number, command: string): void {
    const identity = identifyProcess(pid);
    if (identity === null) return;
    this.#processes.set(name, { name, pid, started: identity.started, command });
    this.#write();
  }

  clear(): void {
    this.#processes.clear();
    this.#write();
  }

  /** The process recorded under the name, if it is still running. */
  runningPid(name: string): number | null {
    const recorded = this.#processes.get(name);
    return recorded !== undefined && isSameProcess(recorded) ? recorded.pid : null;
  }

  #write(): void {
    writePrivateJson(this.#path, { processes: [...this.#processes.values()] });
  }
}

/** Stops the recorded processes, but only those that are certainly ours. */
async function stopRecorded(path: string, log: LogLine): Promise<void> {
  if (!existsSync(path)) return;
  const { processes } = readPrivateJson(path);
  const recorded = (Array.isArray(processes) ? processes : []) as Partial<RecordedProcess>[];
  await Promise.all(
    recorded.filter(isOurs).map(async ({ name, pid }) => {
      log(`stopping ${name} (pid ${pid}), left behind by an earlier run`);
      await stopProcess(pid, { signal: 'SIGINT', graceMs: LEFTOVER_GRACE_MS });
    }),
  );
  writePrivateJson(path, { processes: [] });
}

function isOurs(recorded: Partial<RecordedProcess>): recorded is RecordedProcess {
  const { name, pid, started, command } = recorded;
  return (
    typeof name === 'string' &&
    typeof pid === 'number' &&
    typeof started === 'string' &&
    typeof command === 'string' &&
    isSameProcess({ pid, started }) &&
    commandLineOf(pid).includes(command)
  );
}

function alreadyRunning(layout: DataLayout, pid: number): SetupError {
  return new SetupError(
    `\`npm start\` is already running on ${layout.folder} (pid ${pid}); stop it first.`,
  );
}
