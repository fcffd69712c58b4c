/**
 * Checks the ledger's invariants. `npm run ledger:verify` prints the result, and the schedule
 * `ledger-check` pauses payouts if one is broken. It can run at any time while the gateway is
 * running, and with the application's role.
 */
import type { DifferenceKind } from '../domain/cases';
import { differencesSql } from './reconciliation-differences';
import { LEDGER_INVARIANTS, type LedgerInvariant } from './ledger-invariants';
import { type Db, onOneSnapshot, rows, type Tx } from './transaction';

/** A sample is enough to start an investigation; a broken ledger may have a million rows. */
const ROWS_SHOWN_MAX = 20;

export interface InvariantResult extends Pick<LedgerInvariant, 'number' | 'name' | 'sentence'> {
  /** How many of `noun` were checked. */
  checked: number;
  noun: string;
  /** How many rows break it; 0 when it holds. */
  broken: number;
  /** The first of them. */
  rows: Record<string, unknown>[];
}

/** Checks the invariants of the gateway's own data, on one snapshot. */
export async function verifyLedger(db: Db): Promise<InvariantResult[]> {
  return onOneSnapshot(db, async (tx) => {
    const results: InvariantResult[] = [];
    for (const invariant of LEDGER_INVARIANTS) results.push(await check(tx, invariant));
    return results;
  });
}

/** Separate from the others: it depends on the providers, and a break does not pause payouts. */
const STATEMENTS_INVARIANT: LedgerInvariant = {
  number: 8,
  name: 'provider statements match the ledger',
  sentence:
    'Each transfer has the same amount and outcome in the ledger and in the provider’s statement as ' +
    'last read, and neither side lacks a transfer of the other.',
  checks: {
    noun: 'provider entries',
    countSql: 'SELECT count(*)::int AS n FROM provider_entries',
  },
  sql: differencesSql({ unlessNoted: false }),
};

export interface StatementsResult extends InvariantResult {
  /** The earliest reading time of all statements; null if one has not been read yet. */
  readAt: Date | null;
}

/** Compares the copy of the providers' statements with the ledger. */
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

/** Differences without a case. @param only these kinds; all kinds by default */
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
  // The columns keep their SQL names: an operator uses them in further queries.
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
