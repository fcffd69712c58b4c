/**
 * Checks the ledger's invariants. `npm run ledger:verify` prints what it finds, and a schedule
 * pauses payouts when one is broken. It may run at any time, also as the application's role and
 * while the gateway works.
 */
import type { DifferenceKind } from '../domain/cases';
import { differencesSql } from './reconciliation-differences';
import { LEDGER_INVARIANTS, type LedgerInvariant } from './ledger-invariants';
import { type Db, onOneSnapshot, rows, type Tx } from './transaction';

/** A sample is enough to begin looking; a broken ledger may have a million rows. */
const ROWS_SHOWN_MAX = 20;

export interface InvariantResult extends Pick<LedgerInvariant, 'number' | 'name' | 'sentence'> {
  /** How many of `noun` were looked at. */
  checked: number;
  noun: string;
  /** How many rows break it; 0 when it holds. */
  broken: number;
  /** The first of them. */
  rows: Record<string, unknown>[];
}

/** What our own statements say. */
export async function verifyLedger(db: Db): Promise<InvariantResult[]> {
  return onOneSnapshot(db, async (tx) => {
    const results: InvariantResult[] = [];
    for (const invariant of LEDGER_INVARIANTS) results.push(await check(tx, invariant));
    return results;
  });
}

/** Apart from the others: what breaks it is done elsewhere, and pauses no payouts here. */
const STATEMENTS_INVARIANT: LedgerInvariant = {
  number: 8,
  name: 'provider statements match the ledger',
  sentence:
    'Each transfer has the same amount and outcome in the provider’s statement, as last read, and in ' +
    'the ledger, and neither has a transfer that the other lacks.',
  checks: {
    noun: 'entries of providers',
    countSql: 'SELECT count(*)::int AS n FROM provider_entries',
  },
  sql: differencesSql({ unlessNoted: false }),
};

export interface StatementsResult extends InvariantResult {
  /** When the statement that was read the longest time ago was read; null: one never was. */
  readAt: Date | null;
}

/** What the copy of the providers' statements says. */
export async function verifyStatements(db: Db): Promise<StatementsResult> {
  return onOneSnapshot(db, async (tx) => {
    const [oldest] = await rows<{ readAt: Date | null }>(
      tx,
      `SELECT CASE WHEN bool_and(read_at IS NOT NULL) THEN min(read_at) END AS read_at
         FROM provider_statements`,
    );
    return { ...(await check(tx, STATEMENTS_INVARIANT)), readAt: oldest?.readAt ?? null };
  });
}

export interface ReconciliationDifference {
  kind: DifferenceKind;
  objectId: string;
  details: Record<string, unknown>;
}

/** Those that have no case yet. @param only those kinds; all of them when it is left out */
export async function findNewDifferences(
  db: Db,
  limit: number,
  only?: readonly DifferenceKind[],
): Promise<ReconciliationDifference[]> {
  return onOneSnapshot(db, (tx) =>
    rows<ReconciliationDifference>(
      tx,
      `SELECT kind, object_id, details
         FROM (${differencesSql({ unlessNoted: true, only })}) AS new LIMIT ?`,
      [limit],
    ),
  );
}

async function check(tx: Tx, invariant: LedgerInvariant): Promise<InvariantResult> {
  const { number, name, sentence, checks, sql } = invariant;
  const [counted] = await rows<{ n: number }>(tx, checks.countSql);
  // The columns keep the names that they have in SQL: an operator goes on with them.
  const { rows: broken } = await tx.raw<{
    rows: (Record<string, unknown> & { total_rows: number })[];
  }>(
    `SELECT found.*, count(*) OVER ()::int AS total_rows FROM (${sql}) AS found
      LIMIT ${ROWS_SHOWN_MAX}`,
  );
  return {
    number,
    name,
    sentence,
    checked: counted?.n ?? 0,
    noun: checks.noun,
    broken: broken[0]?.total_rows ?? 0,
    rows: broken.map(({ total_rows, ...row }) => row),
  };
}
