/**
 * Small JSON files below .gateway/ that only their owner may read: keys, passwords, process ids.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { SetupError } from '../lib/setup-error';

/** Replaces the file in one step, mode 0600; a crash leaves the old or the new one whole. */
export function writePrivateJson(path: string, value: unknown): void {
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/**
 * The file's object, or an empty one when there is no file.
 * @throws SetupError when the file is there and is not a JSON object
 */
export function readPrivateJson(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new SetupError(
    `${path} is damaged; mend it, or \`npm run reset\` removes all local data and begins anew.`,
  );
}
