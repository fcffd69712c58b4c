/**
 * Processes by their id: who is it, is it still the one we started, stop it.
 *
 * Used wherever a process outlives the one that started it (the local PostgreSQL and Temporal
 * servers, the supervisor of `npm start`). An id alone proves nothing, because the system gives
 * it to somebody else after a while; so we keep the start time beside it and compare.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessIdentity {
  pid: number;
  /** Opaque: the same process has the same text, a later process with this pid another one. */
  started: string;
}

/** Tells a process from any later one with the same id, or gives null when it is not running. */
export function identifyProcess(pid: number): ProcessIdentity | null {
  const started = process.platform === 'linux' ? startTicks(pid) : askPs(pid, 'lstart');
  return started === null ? null : { pid, started };
}

/** Says whether exactly this process, not another one with its id, is still running. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.started === identity.started;
}

/** The command line, words parted by spaces; an empty text when there is none to see. */
export function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') return askPs(pid, 'command') ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/**
 * Sends the signal and waits for the end; after `graceMs` it sends the last signal (SIGKILL).
 * Resolves when the process is gone, at the latest two seconds after the last signal; a process
 * that was gone already is fine.
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
  const deadline = Date.now() + timeoutMs;
  while (isSameProcess(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

/** Start time from the kernel. The state is read too: a zombie has ended, only not been reaped. */
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
