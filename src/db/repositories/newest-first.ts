/** The keyset lists of payments and payouts: every page costs what the first does (decision W13). */
import type { ModelClass, Model } from 'objection';
import type { Mode } from '../../domain/mode';
import type { Db } from '../transaction';

export interface NewestFirstQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  /** The last item of the page before; the time as text, because a Date drops microseconds. */
  after: { createdAt: string; id: string } | null;
  filters: {
    status?: readonly string[];
    reference?: string;
    currency?: string;
    provider?: string;
    createdFrom?: string;
    createdTo?: string;
  };
}

export interface ListPage<T> {
  items: T[];
  next: { createdAt: string; id: string } | null;
}

const POSITION = `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** @param table of the model, which has the columns that the filters name */
export async function newestFirst<T extends { id: string }>(
  db: Db,
  model: ModelClass<Model>,
  table: string,
  { accountId, mode, limit, after, filters }: NewestFirstQuery,
): Promise<ListPage<T>> {
  const query = model
    .query(db)
    .select(`${table}.*`, db.raw(`${POSITION} AS position`))
    .where({ account_id: accountId, mode })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit + 1);
  if (after !== null) void query.whereRaw('(created_at, id) < (?, ?)', [after.createdAt, after.id]);
  const { status, reference, currency, provider, createdFrom, createdTo } = filters;
  if (status !== undefined) void query.whereIn('status', [...status]);
  if (reference !== undefined) void query.where({ reference });
  if (currency !== undefined) void query.where({ currency });
  if (provider !== undefined) void query.where({ provider });
  if (createdFrom !== undefined) void query.where('created_at', '>=', createdFrom);
  if (createdTo !== undefined) void query.where('created_at', '<=', createdTo);

  const found = (await query) as unknown as (T & { position: string })[];
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? { createdAt: last.position, id: last.id } : null };
}
