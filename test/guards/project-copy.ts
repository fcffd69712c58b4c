/** A copy of the project in a temporary folder, where guards are removed: the project stays as it is. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Guard, withoutGuard } from './guard';

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
    without: async (guard, work) => {
      const path = join(folder, guard.file);
      const source = readFileSync(path, 'utf8');
      writeFileSync(path, withoutGuard(source, guard));
      try {
        return await work();
      } finally {
        writeFileSync(path, source);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
