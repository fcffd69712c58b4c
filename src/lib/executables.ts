/**
 * Finds programs the way a shell does. Used for tools that a developer's machine may have or not.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

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
