/** Everything that the programs of a gateway keep, as text, and the secrets that are found in it. */
import type { Client } from '@temporalio/client';
import { withClient } from '../../src/db/provision';

/**
 * Every row of every table, and bytes as text too. By SQL: the PostgreSQL of the tests comes without
 * pg_dump, and the one of a system refuses a newer server.
 */
export async function dumpDatabase(url: string): Promise<string> {
  const parts: string[] = [];
  await withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    for (const { name } of tables) {
      const { rows } = await client.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
      parts.push(readable(rows));
    }
  });
  return parts.join('\n');
}

/** All histories of the namespace. */
export async function readHistories({ workflow }: Client): Promise<string> {
  const histories: string[] = [];
  for await (const { workflowId, runId } of workflow.list()) {
    histories.push(readable(await workflow.getHandle(workflowId, runId).fetchHistory()));
  }
  return histories.join('\n');
}

/** @returns which secret was found in which of the texts */
export function findLeaks(
  secrets: ReadonlyMap<string, string>,
  texts: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(texts).flatMap(([place, text]) =>
    [...secrets]
      .filter(([, secret]) =>
        formsOf(secret).some((form) => text.toLowerCase().includes(form.toLowerCase())),
      )
      .map(([what]) => `${what} in ${place}`),
  );
}

/** The secret itself, and as columns of bytes, headers and JSON would write it. */
function formsOf(secret: string): string[] {
  const bytes = [Buffer.from(secret)];
  if (/^(?:[0-9a-f]{2})+$/.test(secret)) bytes.push(Buffer.from(secret, 'hex'));
  const encodings = ['hex', 'base64', 'base64url'] as const;
  // Without the padding: the secret may be the start of something longer.
  const encoded = bytes.flatMap((one) =>
    encodings.map((encoding) => one.toString(encoding).replace(/.?=*$/, '')),
  );
  return [secret, ...encoded];
}

/** All text of a value, and bytes as the text that they hold. */
function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${readable(member)}`)
    .join('\n');
}
