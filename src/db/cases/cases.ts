/** Cases: what the gateway could not resolve by itself and an operator has to decide. */
import type { CaseKind } from '../../domain/cases';
import { newId } from '../../platform/lib/new-id';
import type { Db, Tx } from '../transaction';
import { createdWithin, type ListPage, newestFirst, type Page } from '../lists';
import { findRow, type ReadRows } from '../models';

/** The most facts of a case; a further fact is not decided with it and opens the next case. */
const FACTS_MAX = 1_000;

/** Opens at most one case per kind and object. An open one collects the facts that it lacks. */
export async function openCase(
  db: Db | Tx,
  kind: CaseKind,
  objectId: string,
  details: Record<string, unknown>,
): Promise<void> {
  await db.query(
    `INSERT INTO cases (id, kind, object_id, details) VALUES (?, ?, ?, ?)
     ON CONFLICT (kind, object_id) WHERE resolved_at IS NULL DO UPDATE
       SET details = case_with_facts(cases.details, excluded.details)
     WHERE case_facts_missing(cases.details, excluded.details) <> '[]'
       AND jsonb_array_length(case_facts(cases.details)) < ?`,
    [newId('case'), kind, objectId, JSON.stringify(details), FACTS_MAX],
  );
}

/** A case as stored. */
export interface Case {
  id: string;
  kind: CaseKind;
  objectId: string;
  details: Record<string, unknown>;
  /**
   * The facts in the order in which they came. None is changed or removed, so their number is their
   * version.
   */
  facts: unknown[];
  createdAt: Date;
  resolvedAt: Date | null;
  resolution: string | null;
}

const Cases: ReadRows<Case> = {
  tableName: 'cases',
  read: `id, kind, object_id, details, case_facts(details) AS facts, created_at,
  resolved_at, resolution`,
};

/** The cases, oldest first. @param all includes resolved cases */
export async function listCases(db: Db, all: boolean, limit: number): Promise<Case[]> {
  return db.query<Case>(
    `SELECT ${Cases.read} FROM cases WHERE ? OR resolved_at IS NULL
      ORDER BY created_at, id LIMIT ?`,
    [all, limit],
  );
}

export interface CaseFilters {
  /** Undefined means both open and resolved cases. */
  isOpen?: boolean | undefined;
  kind?: CaseKind | undefined;
  objectId?: string | undefined;
  createdFrom?: string;
  createdTo?: string;
}

/** A page of the console, newest first. */
export function listCasesPage(
  db: Db,
  { filters, ...page }: Page & { filters: CaseFilters },
): Promise<ListPage<Case>> {
  const { isOpen, kind, objectId } = filters;
  return newestFirst(db, Cases, page, [
    ...(isOpen === undefined ? [] : [[`resolved_at IS ${isOpen ? '' : 'NOT'} NULL`] as const]),
    ['kind = ?', kind],
    ['object_id = ?', objectId],
    ...createdWithin(filters),
  ]);
}

export function findCase(db: Db | Tx, id: string): Promise<Case | null> {
  return findRow(db, Cases, { id });
}

/**
 * Records an operator's decision about the facts that the operator saw.
 * @param seen the number of these facts
 * @returns null, and nothing is changed, when the case is not open or has other facts by now
 */
export async function resolveCase(
  tx: Tx,
  id: string,
  seen: number,
  resolution: string,
): Promise<Case | null> {
  const [opened] = await tx.query<Case>(
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = ?
      WHERE id = ? AND resolved_at IS NULL AND jsonb_array_length(case_facts(details)) = ?
      RETURNING ${Cases.read}`,
    [resolution, id, seen],
  );
  return opened ?? null;
}

/** Keeps the open case, if there is one, from being resolved until the transaction ends. */
export async function lockOpenCase(tx: Tx, kind: CaseKind, objectId: string): Promise<void> {
  await tx.query(
    `SELECT FROM cases WHERE kind = ? AND object_id = ? AND resolved_at IS NULL FOR UPDATE`,
    [kind, objectId],
  );
}

/**
 * The facts that no resolved case shows. The gateway itself resolves a case when all of it is done.
 */
export async function undecidedFacts<Fact extends object>(
  db: Db | Tx,
  kind: CaseKind,
  objectId: string,
  facts: readonly Fact[],
): Promise<Fact[]> {
  const found = await db.query<{ place: number }>(
    `SELECT place::integer FROM jsonb_array_elements(?::jsonb) WITH ORDINALITY AS facts (fact, place)
      WHERE NOT EXISTS (SELECT FROM cases
        WHERE kind = ? AND object_id = ? AND resolved_at IS NOT NULL
          AND case_facts(details) @> jsonb_build_array(fact))
      ORDER BY place`,
    [JSON.stringify(facts), kind, objectId],
  );
  return found.flatMap(({ place }) => facts[place - 1] ?? []);
}

/** Resolves the case once every transfer in it has been credited. */
export async function resolveCreditedMoney(db: Db, paymentId: string): Promise<void> {
  await db.query(
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
  await tx.query(
    `UPDATE cases SET resolved_at = clock_timestamp(), resolution = ?
      WHERE kind = ? AND object_id = ? AND resolved_at IS NULL`,
    [resolution, kind, objectId],
  );
}
