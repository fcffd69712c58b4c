/** Cases: what the gateway could not resolve by itself and an operator has to decide. */
import type { CaseKind } from '../../domain/cases';
import { newId } from '../../lib/new-id';
import { rows, type Db, type Tx } from '../transaction';
import { exactTime, type ListPage, pageOf } from './lists';

/** Opens at most one case per kind and object; opening it again changes nothing. */
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

/** Oldest first. @param all includes resolved cases */
export async function listCases(db: Db, all: boolean, limit: number): Promise<Case[]> {
  return rows<Case>(
    db,
    `SELECT ${COLUMNS} FROM cases WHERE ? OR resolved_at IS NULL
      ORDER BY created_at, id LIMIT ?`,
    [all, limit],
  );
}

export interface CaseFilters {
  /** Undefined: open and resolved ones. */
  isOpen?: boolean | undefined;
  kind?: CaseKind | undefined;
  objectId?: string | undefined;
  createdFrom?: string;
  createdTo?: string;
}

/** Newest first, a page of the console. */
export async function listCasesPage(
  db: Db,
  query: { limit: number; after: { createdAt: string; id: string } | null; filters: CaseFilters },
): Promise<ListPage<Case>> {
  const { limit, after, filters } = query;
  const asked: [condition: string, ...values: string[]][] = [];
  if (filters.isOpen !== undefined) {
    asked.push([`resolved_at IS ${filters.isOpen ? 'NULL' : 'NOT NULL'}`]);
  }
  if (filters.kind !== undefined) asked.push(['kind = ?', filters.kind]);
  if (filters.objectId !== undefined) asked.push(['object_id = ?', filters.objectId]);
  if (filters.createdFrom !== undefined) asked.push(['created_at >= ?', filters.createdFrom]);
  if (filters.createdTo !== undefined) asked.push(['created_at <= ?', filters.createdTo]);
  if (after !== null) asked.push(['(created_at, id) < (?, ?)', after.createdAt, after.id]);
  const where = ['true', ...asked.map(([condition]) => condition)].join(' AND ');
  const found = await rows<Case & { position: string }>(
    db,
    `SELECT ${COLUMNS}, ${exactTime('created_at')} AS position FROM cases WHERE ${where}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [...asked.flatMap(([, ...values]) => values), limit + 1],
  );
  return pageOf(found, limit);
}

export async function findCase(db: Db | Tx, id: string): Promise<Case | null> {
  const sql = `SELECT ${COLUMNS} FROM cases WHERE id = ?`;
  const [opened] = await rows<Case>(db, sql, [id]);
  return opened ?? null;
}

/** @returns null, and nothing is changed, when the case is not open */
export async function resolveCase(tx: Tx, id: string, resolution: string): Promise<Case | null> {
  const [opened] = await rows<Case>(
    tx,
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = ?
      WHERE id = ? AND resolved_at IS NULL RETURNING ${COLUMNS}`,
    [resolution, id],
  );
  return opened ?? null;
}

/** Whether there is one; nobody resolves it until the transaction ends. */
export async function lockOpenCase(tx: Tx, kind: CaseKind, objectId: string): Promise<boolean> {
  const found = await rows(
    tx,
    `SELECT FROM cases WHERE kind = ? AND object_id = ? AND resolved_at IS NULL FOR UPDATE`,
    [kind, objectId],
  );
  return found.length > 0;
}

/** Resolves the case once every transfer in it has been credited. */
export async function resolveCreditedMoney(db: Db, paymentId: string): Promise<void> {
  await rows(
    db,
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = 'Credited later.'
      WHERE kind IN ('money_not_credited', 'late_money_held') AND object_id = ?
        AND resolved_at IS NULL AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(details->'transfers') AS transfer
           WHERE NOT EXISTS (
             SELECT FROM payment_credits
              WHERE (payment_id, provider_transfer_id) = (object_id, transfer->>'id')))`,
    [paymentId],
  );
}

/** Resolves a case that the gateway opened, once the cause is gone. */
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
