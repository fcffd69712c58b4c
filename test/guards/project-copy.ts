/** A copy of the project in a temporary folder, where guards are removed: the project stays as it is. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Guard, isOfDatabase, readSources, withoutGuard } from './guard';

const ROOT = join(__dirname, '../..');
const LEFT_OUT = ['.git', '.gateway', 'coverage', 'dist', 'node_modules'];

export interface ProjectCopy {
  folder: string;
  /** Runs the work while the guard is missing, and puts it back. */
  without<T>(guard: Guard, work: () => Promise<T>): Promise<T>;
  remove(): void;
}

export function copyProject(): ProjectCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'payments-gateway-guards-')));
  for (const name of readdirSync(ROOT)) {
    if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return {
    folder,
    without: async ({ changes }, work) => {
      const sources = readSources(folder);
      const changed = new Map<string, string>();
      const read = (path: string): string => changed.get(path) ?? sources.read(path);
      for (const change of changes.filter((one) => !isOfDatabase(one))) {
        const { path, text } = withoutGuard({ ...sources, read }, change);
        changed.set(path, text);
      }
      try {
        for (const [path, text] of changed) writeFileSync(join(folder, path), text);
        return await work();
      } finally {
        for (const path of changed.keys()) writeFileSync(join(folder, path), sources.read(path));
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
