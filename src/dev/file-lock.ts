/**
 * A lock file: at most one process holds it, and the lock of a process that died is free at once.
 *
 * Used by `npm start` (one supervisor for each data folder) and by the build of the Temporal CLI
 * (one build on a machine). The file names its holder, for the message to the next who asks.
 */
import assert from 'node:assert/strict';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identifyProcess, isSameProcess, type ProcessIdentity } from './processes';

export type LockAttempt =
  { held: true; release: () => void } | { held: false; holder: ProcessIdentity };

/** Takes the lock or returns its holder; never waits. */
export function tryLock(path: string): LockAttempt {
  const own = identifyProcess(process.pid);
  assert.ok(own !== null, 'this process must be able to see itself');
  const ownText = JSON.stringify(own);
  // The file is written first and then linked into place, so that no reader sees half a lock.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, ownText, { mode: 0o600 });
  try {
    for (;;) {
      if (linkInto(draft, path)) return { held: true, release: () => releaseLock(path, ownText) };
      const holder = readHolder(path);
      if (holder !== null && isSameProcess(holder.identity)) {
        return { held: false, holder: holder.identity };
      }
      if (holder !== null) removeStale(path, holder.text);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The process that holds the lock, or null. */
export function lockHolder(path: string): ProcessIdentity | null {
  const holder = readHolder(path);
  return holder !== null && isSameProcess(holder.identity) ? holder.identity : null;
}

function releaseLock(path: string, ownText: string): void {
  if (readHolder(path)?.text === ownText) rmSync(path, { force: true });
}

function linkInto(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): { text: string; identity: ProcessIdentity } | null {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, identity: parseIdentity(text) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The holder of a lock file. A damaged file has none: pid 0 never runs. */
function parseIdentity(text: string): ProcessIdentity {
  try {
    const { pid, started } = JSON.parse(text) as Partial<ProcessIdentity>;
    if (typeof pid === 'number' && typeof started === 'string') return { pid, started };
  } catch {
    // Invalid JSON is treated like JSON without the two members.
  }
  return { pid: 0, started: '' };
}

/** Removes a dead holder's file; restores it if another process has just taken the lock. */
function removeStale(path: string, staleText: string): void {
  const moved = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readFileSync(moved, 'utf8') !== staleText) linkInto(moved, path);
  rmSync(moved, { force: true });
}
