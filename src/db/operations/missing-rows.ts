/**
 * Finds objects that Temporal or a provider knows and the database does not, because it was restored to
 * an earlier time.
 */
import type { Db } from '../transaction';

/** @returns those of the ids that have no row */
export async function findMissingRows(
  db: Db,
  kind: 'payout' | 'payment',
  ids: readonly string[],
): Promise<string[]> {
  const found = await db.query<{ id: string }>(
    `SELECT id FROM unnest(?::text[]) AS known (id)
      WHERE NOT EXISTS (SELECT FROM ${kind}s o WHERE o.id = known.id)`,
    [[...ids]],
  );
  return found.map(({ id }) => id);
}
