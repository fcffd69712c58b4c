/** Removes a guard from the databases that a run of tests copies. */
import type { ClientBase } from 'pg';
import { withClient } from '../../src/db/provision';
import { type Change, isOfDatabase, removalOf } from './guard';

/** The changes of one guard, as JSON, which `npm run test:guards` gives to a run. */
export const REMOVED = 'TEST_REMOVED_GUARD';

export async function removeGuard(url: string, place: 'sql' | 'wallet-sql'): Promise<void> {
  const changes = JSON.parse(process.env[REMOVED] ?? '[]') as Change[];
  const own = changes.filter((one) => isOfDatabase(one) && one.in.split(' ')[0] === place);
  if (own.length === 0) return;
  await withClient(url, async (client) => {
    for (const change of own) await client.query(await removalOf(change, definitionOf(client)));
  });
}

export const definitionOf = (client: ClientBase) => async (name: string) => {
  const { rows } = await client.query<{ text: string }>(
    'SELECT pg_get_functiondef($1::regproc) AS text',
    [name],
  );
  return rows[0]?.text ?? '';
};
