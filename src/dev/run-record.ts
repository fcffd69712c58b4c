/**
 * `.gateway/run.json`: which processes the running `npm start` has started. When it is killed
 * without a chance to stop them, the next start finds and stops them by this record.
 */
import { existsSync } from 'node:fs';
import type { LogLine } from '../lib/log-line';
import { commandLineOf, identifyProcess, isSameProcess, stopProcess } from '../lib/processes';
import { readPrivateJson, writePrivateJson } from './private-file';

interface RecordedProcess {
  name: string;
  pid: number;
  /** The process's start time, so that a later process with its id is not taken for it. */
  started: string;
  /** Words that its command line holds. */
  command: string;
}

const LEFTOVER_GRACE_MS = 3_000;

export class RunRecord {
  readonly #path: string;
  readonly #processes = new Map<string, RecordedProcess>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes a process under its part's name; a restarted part replaces its predecessor. */
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

  /** The process noted under the name, if it is still running. */
  runningPid(name: string): number | null {
    const noted = this.#processes.get(name);
    return noted !== undefined && isSameProcess(noted) ? noted.pid : null;
  }

  #write(): void {
    writePrivateJson(this.#path, { processes: [...this.#processes.values()] });
  }
}

/** Stops what an earlier run left behind. Only a process that is surely ours is touched. */
export async function stopLeftovers(path: string, log: LogLine): Promise<void> {
  if (!existsSync(path)) return;
  const { processes } = readPrivateJson(path);
  const noted = (Array.isArray(processes) ? processes : []) as Partial<RecordedProcess>[];
  await Promise.all(
    noted.filter(isOurs).map(async ({ name, pid }) => {
      log(`stopping ${name} (pid ${pid}) that an earlier run left behind`);
      await stopProcess(pid, { signal: 'SIGINT', graceMs: LEFTOVER_GRACE_MS });
    }),
  );
  writePrivateJson(path, { processes: [] });
}

function isOurs(noted: Partial<RecordedProcess>): noted is RecordedProcess {
  const { name, pid, started, command } = noted;
  return (
    typeof name === 'string' &&
    typeof pid === 'number' &&
    typeof started === 'string' &&
    typeof command === 'string' &&
    isSameProcess({ pid, started }) &&
    commandLineOf(pid).includes(command)
  );
}
