/** The processes of a peer: started in a folder of their own, ended with all their children. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendSignal } from '../../../src/dev/processes';
import { spawnServer } from '../../../src/dev/server-process';

const START_TIMEOUT_MS = 60_000;
const GRACE_MS = 5_000;

export interface PeerProcess {
  stop(): Promise<void>;
}

export interface PeerCommand {
  program: string;
  args: readonly string[];
  cwd: string;
  /** For its log. */
  folder: string;
  env: Record<string, string>;
  /** Answers with 200 when it is ready. */
  healthUrl: string;
}

/** @throws Error with the end of its log when it does not become ready */
export async function startPeerProcess(command: PeerCommand): Promise<PeerProcess> {
  const server = spawnServer(command.program, command.args, {
    cwd: command.cwd,
    env: { ...process.env, ...command.env },
    logFile: join(command.folder, 'peer.log'),
  });
  // Its group has its children too. They must not outlive an interrupted run.
  const end = () => {
    sendSignal(-server.pid, 'SIGKILL');
  };
  process.once('exit', end);
  const stop = async (): Promise<void> => {
    sendSignal(-server.pid, 'SIGTERM');
    const deadline = performance.now() + GRACE_MS;
    while (!server.hasEnded() && performance.now() < deadline) await sleep(50);
    end();
    process.off('exit', end);
  };
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isHealthy(command.healthUrl))) {
    if (server.hasEnded() || performance.now() > deadline) {
      await stop();
      throw new Error(`${command.program} did not start:\n${server.output()}`);
    }
    await sleep(200);
  }
  return { stop };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
