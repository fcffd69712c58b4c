/**
 * Processes by their id (identify, compare, stop), and programs by their name.
 *
 * Used wherever a process can outlive the one that started it: the local PostgreSQL and Temporal
 * servers, the supervisor of `npm start`. The system reuses process ids, so each id is kept with
 * the start time of its process, and both are compared.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** A text that a later process with the same pid does not have. */
  started: string;
}

/** The process with this id, or null when none is running. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startTicks(pid) : askPs(pid, 'lstart');
  return started === null ? null : { pid, started };
}

/** Whether this process, and not a later one with its id, is still running. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

/** The command line, its words separated by spaces; empty when it cannot be read. */
export function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') return askPs(pid, 'command') ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/**
 * Sends the signal, and after `graceMs` the last signal (SIGKILL). Resolves when the process has
 * ended, at the latest two seconds after the last signal; it may have ended before.
 */
export async function stopProcess(
  pid: number,
  {
    signal,
    graceMs,
    lastSignal = 'SIGKILL',
  }: { signal: NodeJS.Signals; graceMs: number; lastSignal?: NodeJS.Signals },
): Promise<void> {
  const identity = identifyProcess(pid);
  if (identity === null) return;
  sendSignal(pid, signal);
  if (await waitForEnd(identity, graceMs)) return;
  sendSignal(pid, lastSignal);
  await waitForEnd(identity, 2_000);
}

/** Sends a signal to a process that may end at the same moment. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isSameProcess(identity)) {
    if (performance.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

/**
 * The start time from the kernel. The state is read too, because a zombie has ended and has only not
 * been reaped.
 */
function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    return state === 'Z' || state === 'X' ? null : (ticks ?? null);
  } catch {
    return null;
  }
}

function askPs(pid: number, column: 'lstart' | 'command'): string | null {
  try {
    const answer = execFileSync('ps', ['-o', `${column}=`, '-p', pid.toString()], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return answer.trim() || null;
  } catch {
    return null;
  }
}

/** The first executable of this name on PATH, or null. */
export function findOnPath(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
