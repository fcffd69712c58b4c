/** Filters with a name, each of one operator. */
import type { Reader, Tx } from '../transaction';
import { lockByName } from '../transaction';

export interface SavedFilter {
  name: string;
  /** The filter as the query of the list's URL. */
  query: string;
}

export function listSavedFilters(db: Reader, userId: string): Promise<SavedFilter[]> {
  const sql = 'SELECT name, query FROM saved_filters WHERE user_id = ? ORDER BY lower(name), name';
  return db.query<SavedFilter>(sql, [userId]);
}

/** Saves a filter in place of the one with this name. @returns false if the operator has `max` others */
export async function saveFilter(
  tx: Tx,
  userId: string,
  { name, query }: SavedFilter,
  max: number,
): Promise<boolean> {
  await lockByName(tx, 'saved_filters', userId);
  const saved = await tx.query(
    `INSERT INTO saved_filters (user_id, name, query)
     SELECT q.user_id, q.name, q.query
       FROM (VALUES (?::text, ?::text, ?::text)) AS q (user_id, name, query)
      WHERE (SELECT count(*) FROM saved_filters f
              WHERE f.user_id = q.user_id AND f.name <> q.name) < ?::integer
     ON CONFLICT (user_id, name) DO UPDATE SET query = excluded.query
     RETURNING 1`,
    [userId, name, query, String(max)],
  );
  return saved.length === 1;
}

export async function removeFilter(tx: Tx, userId: string, name: string): Promise<void> {
  await tx.query('DELETE FROM saved_filters WHERE user_id = ? AND name = ?', [userId, name]);
}
