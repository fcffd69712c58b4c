/**
 * Checks the ledger's invariants. `npm run ledger:verify` prints what it finds; it may run at any
 * time, also as the application's role and while the gateway works.
 */
import { LEDGER_INVARIANTS, type LedgerInvariant } from './ledger-invariants';
import { type Db, rows, type Tx } from './transaction';

/** A sample is enough to begin looking; a broken ledger may have a million rows. */
const MAX_ROWS_SHOWN = 20;

/** A full check reads every entry, so it needs longer than a request may take. */
const STATEMENT_TIMEOUT = '30min';

export interface InvariantResult extends Pick<LedgerInvariant, 'number' | 'name' | 'sentence'> {
  /** How many of `noun` were looked at. */
  checked: number;
  noun: string;
  /** How many rows break it; 0 when it holds. */
  broken: number;
  /** The first of them. */
  rows: Record<string, unknown>[];
}

/** One snapshot for all of it: two invariants must not see two different moments. */
export async function verifyLedger(db: Db): Promise<InvariantResult[]> {
  return db.transaction(
    async (tx) => {
      await rows(tx, `SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}'`);
      const results: InvariantResult[] = [];
      for (const invariant of LEDGER_INVARIANTS) results.push(await check(tx, invariant));
      return results;
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

async function check(tx: Tx, invariant: LedgerInvariant): Promise<InvariantResult> {
  const { number, name, sentence, checks, sql } = invariant;
  const [counted] = await rows<{ n: number }>(tx, checks.countSql);
  const broken = await rows<Record<string, unknown> & { total_rows: number }>(
    tx,
    `SELECT found.*, count(*) OVER ()::int AS total_rows FROM (${sql}) AS found
      LIMIT ${MAX_ROWS_SHOWN}`,
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
