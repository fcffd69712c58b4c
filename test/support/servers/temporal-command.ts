/** The `temporal` program, as an operator types it. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface TemporalPlace {
  address: string;
  namespace: string;
}

/** The server says it of a workflow whose other requests keep it waiting too long. */
const BUSY = 'Workflow is busy';

/**
 * Repeats the command while the server says that the workflow is busy, as an operator does.
 * @returns what it printed
 * @throws when it ends with another exit code than 0
 */
export async function temporalCommand(place: TemporalPlace, ...args: string[]): Promise<string> {
  const cli = process.env['TEST_TEMPORAL_CLI'] ?? 'temporal';
  const where = ['--address', place.address, '--namespace', place.namespace];
  const whole = [...args, ...where];
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    try {
      return (await run(cli, whole, { timeout: 30_000 })).stdout;
    } catch (error) {
      if (!String(error).includes(BUSY) || Date.now() > giveUpAt) throw error;
      await sleep(200);
    }
  }
}

export function placeOf(env: NodeJS.ProcessEnv): TemporalPlace {
  return {
    address: env['TEMPORAL_ADDRESS'] ?? '',
    namespace: env['TEMPORAL_NAMESPACE'] ?? 'default',
  };
}
