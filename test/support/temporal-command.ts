/** The `temporal` program, as an operator types it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface TemporalPlace {
  address: string;
  namespace: string;
}

/**
 * @returns what it printed
 * @throws when it ends with another exit code than 0
 */
export async function temporalCommand(place: TemporalPlace, ...args: string[]): Promise<string> {
  const cli = process.env['TEST_TEMPORAL_CLI'] ?? 'temporal';
  const where = ['--address', place.address, '--namespace', place.namespace];
  const { stdout } = await run(cli, [...args, ...where], { timeout: 30_000 });
  return stdout;
}

export function placeOf(env: NodeJS.ProcessEnv): TemporalPlace {
  return {
    address: env['TEMPORAL_ADDRESS'] ?? '',
    namespace: env['TEMPORAL_NAMESPACE'] ?? 'default',
  };
}
