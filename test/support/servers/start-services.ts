/**
 * Starts services.ts for a jest run and keeps its handle for the end of the run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ServicesMessage, TestService } from './services';

const running: ChildProcess[] = [];

/** Starts what is wanted and not given from outside, and sets the TEST_… variables. */
export async function startTestServices(wanted: readonly TestService[]): Promise<void> {
  const child = fork(join(__dirname, 'services.ts'), wanted, {
    execArgv: ['--import', 'tsx'],
    // A process group of its own: Ctrl-C ends jest first, and the closed channel ends this.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  running.push(child);
  const message = await Promise.race([
    once(child, 'message').then(([first]) => first as ServicesMessage),
    once(child, 'exit').then(() => ({ failed: 'the process of the test services ended' })),
  ]);
  if ('failed' in message) {
    await stopTestServices();
    throw new Error(`The test services did not start: ${message.failed}`);
  }
  Object.assign(process.env, message.ready);
}

/** Stops everything that was started, and waits for it. */
export async function stopTestServices(): Promise<void> {
  await Promise.all(
    running.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    }),
  );
}
