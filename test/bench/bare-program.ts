/** A bare limit runs in a process of its own, as the gateway does. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface BareProgram {
  child: ChildProcess;
  /** What it sent when it was ready. */
  ready: unknown;
  stop(): Promise<void>;
}

/** @param name of a program in test/bench/bare, which ends when its channel closes */
export async function startBareProgram(
  name: string,
  env: Record<string, string>,
): Promise<BareProgram> {
  const child = fork(join(__dirname, 'bare', `${name}.ts`), [], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...env },
  });
  const [ready] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the bare limit ${name} did not start`);
    }),
  ]);
  return {
    child,
    ready,
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
