/** The audit log of operator changes. It is append-only. */
import type { Reader, Tx } from '../transaction';
import { exactTime, type ListPage, pageOf } from '../lists';

/** A state of the object as the admin command shows it, without secrets and hashes. */
export type Snapshot = object | null;

/**
 * The sources of entries: the pages, a merchant's server, the admin command, a signal to a workflow, or the
 * gateway itself.
 */
export const AUDIT_SOURCES = ['console', 'dashboard', 'api', 'admin', 'signal', 'gateway'] as const;
export type AuditSource = (typeof AUDIT_SOURCES)[number];

/** An entry to write. */
export interface NewAuditEntry {
  actor: string;
  via?: AuditSource;
  /** The address of a person in a browser; empty if it is unknown. */
  address?: string;
  /** noun.verb, such as `key.rotate`. */
  action: string;
  /** The type of the object, such as `api_key`. */
  object: string;
  objectId: string;
  accountId: string | null;
  before: Snapshot;
  after: Snapshot;
  reason: string | null;
}

/** An entry as stored. */
export interface AuditEntry extends Omit<NewAuditEntry, 'via' | 'address'> {
  id: string;
  at: Date;
  via: AuditSource | null;
  address: string | null;
}

/** The filters of a page of the log. */
export interface AuditQuery {
  objectId?: string | undefined;
  accountId?: string | undefined;
  action?: string | undefined;
  actor?: string | undefined;
  /** ISO 8601, inclusive. */
  since?: string | undefined;
  via?: AuditSource | undefined;
  /** ISO 8601, inclusive. */
  until?: string | undefined;
  /**
   * The actions of operators that a merchant may see of its account, beside what its own users did.
   */
  visibleActions?: readonly string[] | undefined;
  /** Limits the list to entries older than the one with this id. */
  beforeId?: string | undefined;
  limit: number;
}

/** Writes an entry in the transaction of the change. */
export async function appendAudit(tx: Tx, entry: NewAuditEntry): Promise<void> {
  await tx.query(
    `INSERT INTO audit_log (actor, via, address, action, object, object_id, account_id, before,
                            after, reason)
     VALUES (?, ?, nullif(?, '')::inet, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?)`,
    [
      entry.actor,
      entry.via ?? null,
      entry.address ?? null,
      entry.action,
      entry.object,
      entry.objectId,
      entry.accountId,
      entry.before === null ? null : JSON.stringify(entry.before),
      entry.after === null ? null : JSON.stringify(entry.after),
      entry.reason,
    ],
  );
}

/** What became of an erasure: `needed` entries decide who counts as a second person and stay. */
export type Erasure = 'erased' | 'unknown' | 'needed' | 'not_sealed' | 'erased_before';

/** Erases the parts of an entry that name a person. The caller writes the entry of the erasure. */
export async function eraseAuditEntry(tx: Tx, id: string): Promise<Erasure> {
  const [row] = await tx.query<{ outcome: Erasure }>(
    'SELECT erase_audit_entry(?::bigint) AS outcome',
    [id],
  );
  return row?.outcome ?? 'unknown';
}

export async function findAuditAccount(tx: Tx, id: string): Promise<string | null> {
  const [row] = await tx.query<{ accountId: string | null }>(
    'SELECT account_id FROM audit_log WHERE id = ?::bigint',
    [id],
  );
  return row?.accountId ?? null;
}

export async function listAudit(
  db: Reader,
  query: AuditQuery,
): Promise<(AuditEntry & { position: string })[]> {
  const asked = (
    [
      ['object_id = ?', query.objectId],
      ['account_id = ?', query.accountId],
      ['action = ?', query.action],
      ['actor = ?', query.actor],
      ['via = ?', query.via],
      ['at >= ?::timestamptz', query.since],
      ['at <= ?::timestamptz', query.until],
      [`(via IN ('dashboard', 'api') OR action = ANY (?::text[]))`, query.visibleActions],
      ['id < ?::bigint', query.beforeId],
    ] as const
  ).flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  const where = ['true', ...asked.map(({ condition }) => condition)].join(' AND ');
  return db.query<AuditEntry & { position: string }>(
    `SELECT id, at, actor, via, host(address) AS address, action, object, object_id, account_id,
            before, after, reason, ${exactTime('at')} AS position
       FROM audit_log WHERE ${where} ORDER BY id DESC LIMIT ?`,
    [...asked.map(({ value }) => (typeof value === 'string' ? value : [...value])), query.limit],
  );
}

/** A page of the log, with the position of the next one. */
export async function listAuditPage(
  db: Reader,
  { limit, ...query }: AuditQuery,
): Promise<ListPage<AuditEntry>> {
  return pageOf(await listAudit(db, { ...query, limit: limit + 1 }), limit);
}
