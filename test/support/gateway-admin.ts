/** The admin command on a test's gateway, as its operator would run it. */
import { runCommand } from '../../src/cli/run-command';
import type { ApiAnswer } from './merchant-client';
import type { TestGateway } from './gateway';

/** @returns the document @throws with the command's sentence when it was refused */
export async function runAdmin(
  { env, database }: TestGateway,
  ...args: string[]
): Promise<ApiAnswer['json']> {
  const said = { out: '', err: '' };
  const code = await runCommand(
    [...args, '--json'],
    { ...env, DATABASE_OWNER_URL: database.ownerUrl, GATEWAY_DATA_DIR: '/nowhere' },
    { out: (text) => (said.out += text), err: (text) => (said.err += text) },
  );
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${said.err}`);
  return JSON.parse(said.out);
}
