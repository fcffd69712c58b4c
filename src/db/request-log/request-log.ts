/** The log of API requests: written in batches by the API, read by the dashboard and by API. */
import { idAt } from '../../domain/ids';
import type { Mode, Owner } from '../../domain/mode';
import type { Position } from '../lists';
import type { Db, Reader } from '../transaction';

/** A request of the log. */
export interface LoggedRequest extends Owner {
  /** `req_…`, which sorts by time. */
  id: string;
  apiKeyId: string;
  at: Date;
  method: string;
  path: string;
  query: string;
  status: number;
  replayed: boolean;
  idempotencyKey: string | null;
  address: string;
  userAgent: string;
  durationMs: number;
  /** Redacted and shortened; null without a body. */
  requestBody: string | null;
  /** The body of the answer, redacted and shortened; null for a file. */
  responseBody: string | null;
}

/**
 * The bound of the storage: entries of each kind, succeeded and failed, for one account and mode.
 */
export const STORED_PER_DAY_MAX = 10_000;
/** How many days requests are kept. */
export const KEPT_DAYS = 7;

const COLUMNS = `id, account_id, mode, api_key_id, at, method, path, query, status, replayed,
  idempotency_key, address, user_agent, duration_ms, request_body, response_body`;

/** @returns how many were stored; the others are above the maximum of their day */
export async function writeRequestLog(
  db: Db,
  entries: readonly LoggedRequest[],
  max = STORED_PER_DAY_MAX,
): Promise<number> {
  const [written] = await db.query<{ stored: number }>(
    'SELECT write_request_log(?::jsonb, ?) AS stored',
    [
      JSON.stringify(
        entries.map((entry) => ({
          id: entry.id,
          account_id: entry.accountId,
          mode: entry.mode,
          api_key_id: entry.apiKeyId,
          at: entry.at,
          method: entry.method,
          path: entry.path,
          query: entry.query,
          status: entry.status,
          replayed: entry.replayed,
          idempotency_key: entry.idempotencyKey,
          address: entry.address,
          user_agent: entry.userAgent,
          duration_ms: entry.durationMs,
          request_body: entry.requestBody,
          response_body: entry.responseBody,
        })),
      ),
      max,
    ],
  );
  return written?.stored ?? 0;
}

/** Empties the days that are over. Safe to run at any time. */
export async function forgetRequestLog(db: Db): Promise<void> {
  await db.query('SELECT forget_request_log()');
}

export interface RequestFilters {
  /** The first digit of the status: 2, 4 or 5. */
  statusClass?: number;
  /** An exact status; it needs `statusClass` as well. */
  status?: string;
  method?: string;
  /** The beginning of the path. */
  path?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

/** The part of the ring that is not being emptied. */
const KEPT = `day_slot <> (floor(extract(epoch FROM now()) / 86400)::integer + 1) % 9
  AND at > now() - interval '${KEPT_DAYS} days'`;

export async function listRequests(
  db: Reader,
  query: {
    accountId: string;
    mode: Mode;
    limit: number;
    after: { id: string } | null;
    filters: RequestFilters;
  },
): Promise<{ items: LoggedRequest[]; next: Position | null }> {
  const { statusClass, status, method, path, createdFrom, createdTo } = query.filters;
  const conditions: [sql: string, value: string | number | undefined][] = [
    ['id < ?', query.after?.id],
    // Client errors and server errors have an index each.
    [`status / 100 = ? ${ofFailures(statusClass)}`, statusClass],
    ['status = ?', status],
    // The ID bounds what is read: it was made a moment before the time was taken.
    ['id >= ?', createdFrom && firstIdOf(createdFrom)],
    ['at >= ?', createdFrom],
    ['at <= ?', createdTo],
    ['method = ?', method],
    ['starts_with(path, ?)', path],
  ];
  const asked = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const found = await db.query<LoggedRequest>(
    `SELECT ${COLUMNS} FROM request_log
      WHERE account_id = ? AND mode = ? AND ${KEPT}
        ${asked.map(({ sql }) => `AND ${sql}`).join(' ')}
      ORDER BY id DESC LIMIT ?`,
    [query.accountId, query.mode, ...asked.map(({ value }) => value), query.limit + 1],
  );
  const items = found.slice(0, query.limit);
  const last = items.at(-1);
  const more = found.length > query.limit && last !== undefined;
  // The position of a list has microseconds, and here the id alone orders.
  const createdAt = last?.at.toISOString().replace('Z', '000Z') ?? '';
  return { items, next: more ? { createdAt, id: last.id } : null };
}

/** Longer than a request takes from its ID to its time. */
const ID_BEFORE_MS = 60_000;

function firstIdOf(time: string): string {
  return idAt('request', new Date(Math.max(0, Date.parse(time) - ID_BEFORE_MS)));
}

function ofFailures(statusClass: number | undefined): string {
  if (statusClass === 5) return 'AND status >= 500';
  return statusClass === 4 ? 'AND status >= 400' : '';
}

export async function findRequest(
  db: Reader,
  { accountId, mode, id }: Owner & { id: string },
): Promise<LoggedRequest | null> {
  const [found] = await db.query<LoggedRequest>(
    `SELECT ${COLUMNS} FROM request_log
      WHERE account_id = ? AND mode = ? AND id = ? AND ${KEPT} LIMIT 1`,
    [accountId, mode, id],
  );
  return found ?? null;
}

/** The first request with an idempotency key: the newest before this one that succeeded. */
export async function findFirstOfKey(
  db: Reader,
  { accountId, mode, idempotencyKey, id }: LoggedRequest,
): Promise<LoggedRequest | null> {
  if (idempotencyKey === null) return null;
  const [found] = await db.query<LoggedRequest>(
    `SELECT ${COLUMNS} FROM request_log
      WHERE account_id = ? AND mode = ? AND idempotency_key = ? AND id < ?
        AND status < 300 AND NOT replayed AND ${KEPT}
      ORDER BY id DESC LIMIT 1`,
    [accountId, mode, idempotencyKey, id],
  );
  return found ?? null;
}
