/**
 * A lock that is a file: at most one process holds it, and a holder that died holds nothing.
 *
 * Used by `npm start` (one supervisor a data folder) and by the build of the Temporal CLI (one
 * build a machine). The file names its holder, so that the loser can say who has it.
 */
import assert from 'node:assert/strict';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identifyProcess, isSameProcess, type ProcessIdentity } from './processes';

export type LockAttempt =
  { held: true; release: () => void } | { held: false; holder: ProcessIdentity };

/** Takes the lock or says who holds it; it never waits. */
export function tryLock(path: string): LockAttempt {
  const own = identifyProcess(process.pid);
  assert.ok(own !== null, 'this process must be able to see itself');
  const ownText = JSON.stringify(own);
  // The content is written first and linked into place, so no reader ever sees half a lock.
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

/** Who holds the lock now, or null when nobody does. */
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

/** A text that no holder wrote (a damaged disk, a hand) names nobody: pid 0 never runs. */
function parseIdentity(text: string): ProcessIdentity {
  try {
    const { pid, started } = JSON.parse(text) as Partial<ProcessIdentity>;
    if (typeof pid === 'number' && typeof started === 'string') return { pid, started };
  } catch {
    // Falls through to the same answer as a well-formed text without the two members.
  }
  return { pid: 0, started: '' };
}

/** Removes a dead holder's file; gives it back if another process was quicker to replace it. */
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
