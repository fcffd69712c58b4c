/** What the gateway cannot explain and will not mend by itself: an operator decides. */
import type { CaseKind } from '../../domain/cases';
import { newId } from '../../lib/new-id';
import { rows, type Db, type Tx } from '../transaction';

/** One open case of a kind for each object; noting it again changes nothing. */
export async function openCase(
  db: Db | Tx,
  kind: CaseKind,
  objectId: string,
  details: Record<string, unknown>,
): Promise<void> {
  await rows(
    db,
    `INSERT INTO cases (id, kind, object_id, details) VALUES (?, ?, ?, ?)
     ON CONFLICT (kind, object_id) WHERE resolved_at IS NULL DO NOTHING`,
    [newId('case'), kind, objectId, JSON.stringify(details)],
  );
}

export interface Case {
  id: string;
  kind: CaseKind;
  objectId: string;
  details: Record<string, unknown>;
  createdAt: Date;
  resolvedAt: Date | null;
  resolution: string | null;
}

const COLUMNS = `id, kind, object_id, details, created_at,
  resolved_at, resolution`;

/** Oldest first: what has waited longest. @param all also those that are resolved */
export async function listCases(db: Db, all: boolean, limit: number): Promise<Case[]> {
  return rows<Case>(
    db,
    `SELECT ${COLUMNS} FROM cases WHERE ? OR resolved_at IS NULL
      ORDER BY created_at, id LIMIT ?`,
    [all, limit],
  );
}

export async function findCase(db: Db | Tx, id: string): Promise<Case | null> {
  const sql = `SELECT ${COLUMNS} FROM cases WHERE id = ?`;
  const [opened] = await rows<Case>(db, sql, [id]);
  return opened ?? null;
}

/** @returns null when there is none that is still open, and nothing changed */
export async function resolveCase(tx: Tx, id: string, resolution: string): Promise<Case | null> {
  const [opened] = await rows<Case>(
    tx,
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = ?
      WHERE id = ? AND resolved_at IS NULL RETURNING ${COLUMNS}`,
    [resolution, id],
  );
  return opened ?? null;
}

export async function hasOpenCase(db: Db | Tx, kind: CaseKind, objectId: string): Promise<boolean> {
  const found = await rows(
    db,
    `SELECT FROM cases WHERE kind = ? AND object_id = ? AND resolved_at IS NULL`,
    [kind, objectId],
  );
  return found.length > 0;
}

/** Money that was credited after all, each transfer of it, is no case any more. */
export async function resolveCreditedMoney(db: Db, paymentId: string): Promise<void> {
  await rows(
    db,
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = 'It is credited now.'
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
export async function resolveOpenCase(
  tx: Tx,
  kind: CaseKind,
  objectId: string,
  resolution: string,
): Promise<void> {
  await rows(
    tx,
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = ?
      WHERE kind = ? AND object_id = ? AND resolved_at IS NULL`,
    [resolution, kind, objectId],
  );
}
