/**
 * The events of an account as a list, newest first (decisions/webhooks#events-list). Events whose body was deleted
 * are left out. The index of the events that have a body gives the order, so a page reads no more than
 * their 30 days.
 */
import { SUBSCRIBABLE_EVENTS } from '../../domain/events';
import type { Owner } from '../../domain/mode';
import type { Db } from '../transaction';
import type { EventFilters } from './events-feed';
import { conditions, exactTime, type ListPage, type ListQuery, pageOf } from '../lists';

export interface EventListFilters extends EventFilters {
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

export type EventListQuery = ListQuery<EventListFilters>;

interface ListedEvent {
  id: string;
  body: Buffer;
}

/** Null if it does not exist in this account and mode. Its body is null when it was deleted after 30 days. */
export async function findEventBody(
  db: Db,
  { accountId, mode, id }: Owner & { id: string },
): Promise<{ body: Buffer | null } | null> {
  const [found] = await db.query<{ body: Buffer | null }>(
    'SELECT body FROM events WHERE id = ? AND account_id = ? AND mode = ?',
    [id, accountId, mode],
  );
  return found ?? null;
}

export async function listEvents(db: Db, query: EventListQuery): Promise<ListPage<ListedEvent>> {
  const { accountId, mode, limit, after, filters } = query;
  const { type: types = SUBSCRIBABLE_EVENTS, objectId, createdFrom, createdTo } = filters;
  const { sql, bindings } = conditions([
    ['(created_at, id) < (?, ?)', after?.createdAt, after?.id],
    ['created_at >= ?', createdFrom],
    ['created_at <= ?', createdTo],
  ]);
  const page = (source: string, onlyIf = ''): string => `
    SELECT id, body, created_at FROM ${source}
     WHERE account_id = ? AND mode = ? AND body IS NOT NULL AND type = ANY (?::text[]) ${onlyIf} ${sql}
     ORDER BY created_at DESC, id DESC LIMIT ?`;
  const values = [accountId, mode, [...types], ...bindings, limit + 1];
  const listed = (source: string): string =>
    `SELECT id, body, ${exactTime('created_at')} AS position FROM (${source}) AS page
      ORDER BY page.created_at DESC, page.id DESC LIMIT ?`;
  const [text, all] =
    objectId !== undefined
      ? [page(OF_OBJECT), [objectId, ...values]]
      : filters.type === undefined
        ? [page('events'), values]
        : [ofTypes(page), [[...types], accountId, mode, ...values, ...values]];
  const found = await db.query<ListedEvent & { position: string }>(listed(text), [
    ...all,
    limit + 1,
  ]);
  return pageOf(found, limit);
}

/** OFFSET 0 keeps PostgreSQL from looking for the few events of an object elsewhere. */
const OF_OBJECT = '(SELECT * FROM events WHERE object_id = ? OFFSET 0) AS event';

/**
 * Up to this many events of the wanted types are sorted. With more, a page in the order of time is soon
 * full.
 */
const FEW = 1_000;

/**
 * Reads the wanted types first, because a type that is rare, or that the account has none of, would be
 * looked for among all events.
 */
function ofTypes(page: (source: string, onlyIf?: string) => string): string {
  const count = '(SELECT count(*) FROM few)';
  const few = '(SELECT * FROM events WHERE id = ANY (ARRAY(SELECT id FROM few)) OFFSET 0) AS event';
  return `WITH few AS MATERIALIZED (
      SELECT each.id FROM unnest(?::text[]) AS wanted(type) CROSS JOIN LATERAL (
        SELECT id FROM events WHERE type = wanted.type AND account_id = ? AND mode = ?
         -- The order of an index, which is then used.
         ORDER BY position, id LIMIT ${FEW + 1}) AS each
       LIMIT ${FEW + 1})
    (${page(few, `AND ${count} <= ${FEW}`)}) UNION ALL (${page('events', `AND ${count} > ${FEW}`)})`;
}
