/**
 * Prometheus' own checker. Where it is not installed it is taken from Debian's package, once for the
 * user, without installing the package.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../../src/dev/processes';

export const PROMTOOL_REMEDY = 'Install promtool (apt-get install prometheus).';

const CACHE = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'payments-gateway',
  'promtool',
);
const TIMEOUT_MS = 120_000;

/** The program's path, or null when it cannot be had. */
export function findPromtool(): string | null {
  return findOnPath('promtool') ?? (existsSync(CACHE) ? CACHE : unpack());
}

function unpack(): string | null {
  if (findOnPath('apt-get') === null || findOnPath('dpkg') === null) return null;
  const parent = join(CACHE, '..');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(`${CACHE}-`);
  const script = 'apt-get download prometheus && dpkg -x prometheus_*.deb unpacked';
  try {
    execFileSync('sh', ['-c', script], { cwd: folder, timeout: TIMEOUT_MS, stdio: 'ignore' });
    renameSync(join(folder, 'unpacked/usr/bin/promtool'), CACHE);
    return CACHE;
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
