/** What the gateway cannot explain and will not mend by itself: an operator decides. */
import { newId } from '../../lib/new-id';
import { rows, type Db, type Tx } from '../transaction';

/** One open exception of a kind for each object; noting it again changes nothing. */
export async function noteException(
  db: Db | Tx,
  kind: string,
  objectId: string,
  details: Record<string, unknown>,
): Promise<void> {
  await rows(
    db,
    `INSERT INTO exceptions (id, kind, object_id, details) VALUES (?, ?, ?, ?)
     ON CONFLICT (kind, object_id) WHERE resolved_at IS NULL DO NOTHING`,
    [newId('exception'), kind, objectId, JSON.stringify(details)],
  );
}

export interface Exception {
  id: string;
  kind: string;
  objectId: string;
  details: Record<string, unknown>;
  createdAt: Date;
  resolvedAt: Date | null;
  resolution: string | null;
}

const COLUMNS = `id, kind, object_id AS "objectId", details, created_at AS "createdAt",
  resolved_at AS "resolvedAt", resolution`;

/** Oldest first: what has waited longest. @param all also those that are resolved */
export async function listExceptions(db: Db, all: boolean, limit: number): Promise<Exception[]> {
  return rows<Exception>(
    db,
    `SELECT ${COLUMNS} FROM exceptions WHERE ? OR resolved_at IS NULL
      ORDER BY created_at, id LIMIT ?`,
    [all, limit],
  );
}

export async function findException(db: Db | Tx, id: string): Promise<Exception | null> {
  const sql = `SELECT ${COLUMNS} FROM exceptions WHERE id = ?`;
  const [exception] = await rows<Exception>(db, sql, [id]);
  return exception ?? null;
}

/** @returns null when there is none that is still open, and nothing changed */
export async function resolveException(
  tx: Tx,
  id: string,
  resolution: string,
): Promise<Exception | null> {
  const [exception] = await rows<Exception>(
    tx,
    `UPDATE exceptions SET resolved_at = clock_timestamp(), resolution = ?
      WHERE id = ? AND resolved_at IS NULL RETURNING ${COLUMNS}`,
    [resolution, id],
  );
  return exception ?? null;
}

export async function hasOpenException(
  db: Db | Tx,
  kind: string,
  objectId: string,
): Promise<boolean> {
  const found = await rows(
    db,
    `SELECT FROM exceptions WHERE kind = ? AND object_id = ? AND resolved_at IS NULL`,
    [kind, objectId],
  );
  return found.length > 0;
}

/** Money that was credited after all, each transfer of it, is no exception any more. */
export async function resolveCreditedMoney(db: Db, paymentId: string): Promise<void> {
  await rows(
    db,
    `UPDATE exceptions SET resolved_at = clock_timestamp(), resolution = 'It is credited now.'
      WHERE kind IN ('money_not_credited', 'late_money_held') AND object_id = ?
        AND resolved_at IS NULL AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(details->'transfers') AS transfer
           WHERE NOT EXISTS (
             SELECT FROM payment_credits
              WHERE (payment_id, provider_transfer_id) = (object_id, transfer->>'id')))`,
    [paymentId],
  );
}

/** The gateway's own, when what it could not do is done. */
export async function resolveOpenException(
  tx: Tx,
  kind: string,
  objectId: string,
  resolution: string,
): Promise<void> {
  await rows(
    tx,
    `UPDATE exceptions SET resolved_at = clock_timestamp(), resolution = ?
      WHERE kind = ? AND object_id = ? AND resolved_at IS NULL`,
    [resolution, kind, objectId],
  );
}
