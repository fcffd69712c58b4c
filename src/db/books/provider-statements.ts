/**
 * The copy of the providers' statements, which src/db/books/reconciliation-differences.ts compares with
 * the gateway's rows. Reading times are the database's, because they are compared with times of
 * rows.
 */
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ProviderCode } from '../../domain/provider-codes';
import { storableText } from '../../platform/lib/storable-text';
import { onOneSnapshot, type Db, type Tx } from '../transaction';

/** One statement of one provider in one mode. */
export interface StatementKey {
  provider: ProviderCode;
  mode: Mode;
  kind: 'payouts' | 'payments';
}

/** Columns of provider_entries; the migration explains them. */
export interface ProviderEntry {
  kind: 'payout' | 'payin' | 'refund';
  reference: string;
  id: string;
  amount: Amount;
  currency: string;
  state: 'pending' | 'done' | 'void';
  held: boolean;
  changedAt: Date;
}

export async function databaseTime(db: Db): Promise<Date> {
  const [row] = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  if (row === undefined) throw new Error('PostgreSQL returned no time');
  return row.now;
}

/** @returns the time up to which the statement was read, by the provider's clock; null means not yet */
export async function findChangedUntil(
  db: Db,
  { provider, mode, kind }: StatementKey,
): Promise<Date | null> {
  const [row] = await db.query<{ changedUntil: Date | null }>(
    'SELECT changed_until FROM provider_statements WHERE provider = ? AND mode = ? AND kind = ?',
    [provider, mode, kind],
  );
  return row?.changedUntil ?? null;
}

export interface ReadingResult {
  /** A time by the provider's clock; null means nothing new. */
  changedUntil: Date | null;
  /** The start of the reading that reached the end of the statement; null if not reached. */
  readAt: Date | null;
  trouble: string | null;
}

export async function noteReading(
  db: Db | Tx,
  { provider, mode, kind }: StatementKey,
  { changedUntil, readAt, trouble }: ReadingResult,
): Promise<void> {
  await db.query(
    `INSERT INTO provider_statements AS b (provider, mode, kind, changed_until, read_at, trouble)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (provider, mode, kind) DO UPDATE
        SET changed_until = greatest(b.changed_until, excluded.changed_until),
            read_at = greatest(b.read_at, excluded.read_at),
            trouble = excluded.trouble`,
    [provider, mode, kind, changedUntil, readAt, trouble],
  );
}

/**
 * Stores entries. Of two readings of an entry the later one is kept, in whichever order they are
 * written.
 */
export async function storeEntries(
  db: Db | Tx,
  { provider, mode }: Pick<StatementKey, 'provider' | 'mode'>,
  readAt: Date,
  entries: readonly ProviderEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await db.query(
    `INSERT INTO provider_entries AS e
            (provider, mode, kind, reference, id, amount, currency, state, held, changed_at, read_at)
     SELECT DISTINCT ON (n.kind, n.reference, n.id)
            ?, ?, n.kind, n.reference, n.id, n.amount, n.currency, n.state, n.held,
            n."changedAt", ?::timestamptz
       FROM jsonb_to_recordset(?::jsonb)
         AS n(kind text, reference text, id text, amount numeric, currency text, state text,
              held boolean, "changedAt" timestamptz)
     ON CONFLICT (reference, kind, id, provider, mode) DO UPDATE
        SET amount = excluded.amount, currency = excluded.currency, state = excluded.state,
            held = excluded.held, changed_at = excluded.changed_at, read_at = excluded.read_at
      WHERE e.read_at <= excluded.read_at`,
    [provider, mode, readAt, JSON.stringify(entries.map(storable))],
  );
}

/** A provider can return any text, and PostgreSQL cannot store every text. */
function storable(entry: ProviderEntry): ProviderEntry {
  return {
    ...entry,
    reference: storableText(entry.reference),
    id: storableText(entry.id),
    currency: storableText(entry.currency),
  };
}

/** Voids entries of these checkouts that the provider no longer shows. */
export async function voidVanished(
  db: Db | Tx,
  { provider, mode }: Pick<StatementKey, 'provider' | 'mode'>,
  readAt: Date,
  references: readonly string[],
): Promise<void> {
  await db.query(
    `UPDATE provider_entries SET state = 'void', read_at = ?::timestamptz
      WHERE reference = ANY (?::text[]) AND provider = ? AND mode = ?
        AND kind IN ('payin', 'refund') AND read_at < ?::timestamptz`,
    [readAt, [...references], provider, mode, readAt],
  );
}

/**
 * Counts what each provider should hold by its statement, and what the gateway owes to merchants, at
 * one moment. It reads all entries, so the reconciliation runs it and the console reads the result.
 */
export async function countPositions(db: Db): Promise<void> {
  const count = async (tx: Tx) => {
    await tx.query('DELETE FROM provider_positions');
    await tx.query('DELETE FROM merchant_positions');
    await tx.query(
      `INSERT INTO provider_positions
       SELECT provider, mode, currency,
              coalesce(sum(amount) FILTER (WHERE kind = 'payin'), 0),
              coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0),
              coalesce(sum(amount) FILTER (WHERE kind = 'payout'), 0), now()
         FROM provider_entries WHERE state = 'done' GROUP BY provider, mode, currency`,
    );
    await tx.query(
      `INSERT INTO merchant_positions
       SELECT mode, currency, sum(available), sum(reserved), now()
         FROM balances GROUP BY mode, currency`,
    );
  };
  await onOneSnapshot(db, count, { readOnly: false });
}

/** The entries that providers have for a reference or an id of theirs, at most 100. */
export async function listEntriesOf(
  db: Db,
  reference: string,
): Promise<(ProviderEntry & { provider: ProviderCode; mode: Mode; readAt: Date })[]> {
  return db.query(
    `SELECT provider, mode, kind, reference, id, amount, currency, state, held, changed_at, read_at
       FROM provider_entries WHERE reference = ? ORDER BY changed_at, kind, id LIMIT 100`,
    [reference],
  );
}

/** A transfer that the gateway completed and that the provider's statement does not show. */
export interface MissingEntry {
  kind: 'payout' | 'payin';
  provider: ProviderCode;
  mode: Mode;
  reference: string;
  /** The provider's id of a credited transfer; '' for a payout. */
  id: string;
  amount: Amount;
  currency: string;
}

/**
 * The missing entries, newest first, of statements of which a complete reading has started since.
 */
export async function listMissing(db: Db, limit: number): Promise<MissingEntry[]> {
  const sql = `WITH missing AS (
       SELECT 'payout' AS kind, p.provider, p.mode, p.id AS reference, '' AS id, p.amount,
              p.currency, p.updated_at AS done_at
         FROM payouts p
        WHERE p.status = 'completed' AND NOT EXISTS (
          SELECT FROM provider_entries e
           WHERE (e.reference, e.kind, e.provider, e.mode) = (p.id, 'payout', p.provider, p.mode))
       UNION ALL
       SELECT 'payin', p.provider, p.mode, p.id, c.provider_transfer_id, c.amount, p.currency,
              c.credited_at
         FROM payment_credits c JOIN payments p ON p.id = c.payment_id
        WHERE NOT EXISTS (
          SELECT FROM provider_entries e
           WHERE (e.reference, e.kind, e.id, e.provider, e.mode)
               = (p.id, 'payin', c.provider_transfer_id, p.provider, p.mode))
     )
     SELECT m.kind, m.provider, m.mode, m.reference, m.id, m.amount, m.currency
       FROM missing m JOIN provider_statements b
         ON (b.provider, b.mode, b.kind) =
            (m.provider, m.mode, CASE m.kind WHEN 'payout' THEN 'payouts' ELSE 'payments' END)
      WHERE m.done_at < b.read_at
      ORDER BY m.done_at DESC LIMIT ?`;
  return onOneSnapshot(db, (tx) => tx.query<MissingEntry>(sql, [limit]));
}
