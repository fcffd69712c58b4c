/**
 * Keyset pagination of payments and payouts: every page costs as much as the first (decision W13).
 */
import type { Model, ModelClass } from 'objection';
import type { Mode } from '../../domain/mode';
import type { Payment, PaymentFilters } from '../../domain/payment';
import { type Payout, type PayoutFilters, payoutStatusGroup } from '../../domain/payout';
import { PaymentModel, PayoutModel } from '../models';
import type { Db } from '../transaction';

export interface ListQuery<Filters> {
  accountId: string;
  mode: Mode;
  limit: number;
  /** The last item of the previous page; the time is text because a Date drops microseconds. */
  after: { createdAt: string; id: string } | null;
  filters: Filters;
}

export interface ListPage<T> {
  items: T[];
  next: { createdAt: string; id: string } | null;
}

/** SQL: the time as text. A Date drops the microseconds, and a list by time would repeat rows. */
export function exactTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

export function listPayouts(db: Db, query: ListQuery<PayoutFilters>): Promise<ListPage<Payout>> {
  const groups = query.filters.status?.map(payoutStatusGroup);
  return newestFirst<Payout>(db, PayoutModel, query, groups);
}

export function listPayments(db: Db, query: ListQuery<PaymentFilters>): Promise<ListPage<Payment>> {
  return newestFirst<Payment>(db, PaymentModel, query);
}

async function newestFirst<T extends { id: string }>(
  db: Db,
  model: ModelClass<Model>,
  { accountId, mode, limit, after, filters }: ListQuery<PaymentFilters | PayoutFilters>,
  statusGroups?: readonly string[],
): Promise<ListPage<T>> {
  const query = model
    .query(db)
    .select(`${model.tableName}.*`, db.raw(`${exactTime('created_at')} AS position`))
    .where({ account_id: accountId, mode })
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit + 1);
  if (after !== null) void query.whereRaw('(created_at, id) < (?, ?)', [after.createdAt, after.id]);
  const { status, reference, currency, provider, createdFrom, createdTo } = filters;
  if (status !== undefined) void query.whereIn('status', [...status]);
  // The index has the group in place of the status.
  if (statusGroups !== undefined) void query.whereIn('status_group', [...new Set(statusGroups)]);
  if (reference !== undefined) void query.where({ reference });
  if (currency !== undefined) void query.where({ currency });
  if (provider !== undefined) void query.where({ provider });
  if (createdFrom !== undefined) void query.where('created_at', '>=', createdFrom);
  if (createdTo !== undefined) void query.where('created_at', '<=', createdTo);

  return pageOf(await query.castTo<(T & { position: string })[]>(), limit);
}

/** @param found one row more than the page has, if there is a next page */
export function pageOf<T extends { id: string }>(
  found: (T & { position: string })[],
  limit: number,
): ListPage<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? { createdAt: last.position, id: last.id } : null };
}
