/** A program of src/bin as tests run it: in their own process, or as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Program } from '../../../src/platform/lib/command-line';

const ROOT = resolve(__dirname, '../../..');

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export async function runProgram(
  program: Program,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const ended: Ended = { code: -1, stdout: '', stderr: '' };
  ended.code = await program(args, {
    env,
    out: (part) => (ended.stdout += part),
    err: (part) => (ended.stderr += part),
  });
  return ended;
}

/** Slow, and proves that the file starts, reads its environment and sets its exit code. */
export async function forkProgram(
  name: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  const file = join(ROOT, 'src', 'bin', `${name}.ts`);
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: code as number, stdout, stderr };
}
