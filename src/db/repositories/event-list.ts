/**
 * The events of an account as a list, newest first (decision E1). Events whose body was deleted are left out. The
 * index of the events that have a body gives the order, so a page reads no more than their 30 days.
 */
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import type { Mode } from '../../domain/mode';
import { rows, type Db } from '../transaction';
import type { EventFilters } from './events-feed';
import { conditions, exactTime, type ListPage, pageOf } from './lists';

export interface EventListFilters extends EventFilters {
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

export interface EventListQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  after: { createdAt: string; id: string } | null;
  filters: EventListFilters;
}

export async function listEvents(
  db: Db,
  { accountId, mode, limit, after, filters }: EventListQuery,
): Promise<ListPage<{ id: string; body: Buffer }>> {
  const { type = SUBSCRIBABLE_EVENTS, objectId, createdFrom, createdTo } = filters;
  const { sql, bindings } = conditions([
    ['(created_at, id) < (?, ?)', after?.createdAt, after?.id],
    ['created_at >= ?', createdFrom],
    ['created_at <= ?', createdTo],
  ]);
  // OFFSET 0: an object has few events, and PostgreSQL must not look for them elsewhere.
  const source =
    objectId === undefined
      ? 'events'
      : '(SELECT * FROM events WHERE object_id = ? OFFSET 0) AS event';
  const found = await rows<{ id: string; body: Buffer; position: string }>(
    db,
    `SELECT id, body, ${exactTime('created_at')} AS position FROM ${source}
      WHERE account_id = ? AND mode = ? AND body IS NOT NULL AND type = ANY (?::text[]) ${sql}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [
      ...(objectId === undefined ? [] : [objectId]),
      accountId,
      mode,
      [...type],
      ...bindings,
      limit + 1,
    ],
  );
  return pageOf(found, limit);
}
