/** What Temporal stores of a workflow, as text to search for what must not be in it. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { Db } from '../../src/db/transaction';
import { type PayoutCase, readHistory } from './payout/payout-case';

/** Its payloads decoded. */
export async function readEverything(object: Pick<PayoutCase, 'handle'>): Promise<string> {
  const description = await object.handle.describe();
  const history = historyToJSON(await readHistory(object));
  const stored = `${history}\n${JSON.stringify(description.raw)}`;
  const encoded = stored.match(/"[A-Za-z0-9+/]{4,}={0,2}"/g) ?? [];
  const decoded = encoded.map((text) => Buffer.from(text, 'base64').toString('utf8'));
  return [stored, ...decoded].join('\n');
}

/** Every row of every table. */
export async function readEveryRow(db: Db): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

/** Those of the secrets that stand there, plainly or as the hex of a database's bytes. */
export function findAnyOf(secrets: readonly string[], everything: string): string[] {
  const text = everything.toLowerCase();
  return secrets.filter((secret) =>
    [secret.toLowerCase(), Buffer.from(secret).toString('hex')].some((form) => text.includes(form)),
  );
}
