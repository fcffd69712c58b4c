/** The admin command on a test's gateway, as its operator would run it. */
import { runAdmin as admin } from '../../../src/shell/admin/admin';
import type { ApiAnswer } from '../merchant/merchant-client';
import type { TestGateway } from './gateway';
import { type Ended, runProgram } from './programs';

export function tryAdmin({ env, database }: TestGateway, ...args: string[]): Promise<Ended> {
  return runProgram(admin, [...args, '--json'], {
    ...env,
    DATABASE_OWNER_URL: database.adminUrl,
    GATEWAY_DATA_DIR: '/nowhere',
  });
}

/** @returns the document @throws with the command's sentence when it was refused */
export async function runAdmin(
  gateway: TestGateway,
  ...args: string[]
): Promise<ApiAnswer['json']> {
  const { code, stdout, stderr } = await tryAdmin(gateway, ...args);
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
