/**
 * Sums of a balance's postings by day. The postings of a balance are numbered without a gap and in the
 * order of time, so that a day is found by halving. The worker stores the sums of full pieces, which
 * never change; a page adds up only the postings after them (decisions/books#statements).
 */
import type { MerchantLedgerAccount } from '../../domain/ledger';
import { type Amount, ZERO } from '../../domain/money';
import type { DaySum } from '../../domain/statement';
import type { Db, Reader } from '../transaction';
import type { BalanceKey } from '../ledger/ledger';

/** The number of postings whose sums are stored together. Another number needs an empty table. */
export const PIECE = 1_000;

/** The number of postings that one SQL statement reads. */
const READ_MAX = 10 * PIECE;

/**
 * The number of postings before this time. The limit keeps the search in the index: with the rows of one account alone
 * (row-level security) PostgreSQL would otherwise read the whole table at each step.
 */
export async function countPostings(
  db: Reader,
  { accountId, mode, currency }: BalanceKey,
  before: Date,
): Promise<number> {
  const [found] = await db.query<{ low: number }>(
    `WITH RECURSIVE q (account_id, mode, currency, before) AS (
       VALUES (?::text, ?::text, ?::text, ?::timestamptz)
     ), search (low, high) AS (
       SELECT 0::bigint, b.version FROM balances b JOIN q USING (account_id, mode, currency)
       UNION ALL
       SELECT CASE WHEN t.posted_at < q.before THEN m.middle ELSE s.low END,
              CASE WHEN t.posted_at < q.before THEN s.high ELSE m.middle - 1 END
         FROM search s CROSS JOIN q CROSS JOIN LATERAL (SELECT (s.low + s.high + 1) / 2) AS m(middle)
        CROSS JOIN LATERAL (
          SELECT posted_at FROM ledger_transactions
           WHERE (account_id, mode, currency, balance_version)
               = (q.account_id, q.mode, q.currency, m.middle)
           LIMIT 1) AS t
        WHERE s.low < s.high
     )
     SELECT low::integer FROM search WHERE low = high`,
    [accountId, mode, currency, before],
  );
  return found?.low ?? 0;
}

/** The time of the first posting; null without one. */
export async function firstPostedAt(db: Reader, key: BalanceKey): Promise<Date | null> {
  const [first] = await db.query<{ postedAt: Date }>(
    `SELECT posted_at FROM ledger_transactions
      WHERE (account_id, mode, currency, balance_version) = (?, ?, ?, 1)`,
    [key.accountId, key.mode, key.currency],
  );
  return first?.postedAt ?? null;
}

/** The balance after this many postings. */
export async function balanceAfter(
  db: Reader,
  key: BalanceKey,
  account: MerchantLedgerAccount,
  postings: number,
): Promise<Amount> {
  for (let last = postings; last > 0; last -= READ_MAX) {
    const [found] = await db.query<{ balanceAfter: Amount }>(
      `SELECT e.balance_after FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE (t.account_id, t.mode, t.currency) = (?, ?, ?)
          AND t.balance_version > ? AND t.balance_version <= ? AND e.account = ?
        ORDER BY t.balance_version DESC, e.line DESC LIMIT 1`,
      [key.accountId, key.mode, key.currency, last - READ_MAX, last, account],
    );
    if (found !== undefined) return found.balanceAfter;
  }
  return ZERO;
}

const SUMS = `t.type, e.account, e.direction, sum(e.amount)::numeric(38,8) AS amount,
  (count(*) FILTER (WHERE e.line = 1))::integer AS postings
  FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
 WHERE (t.account_id, t.mode, t.currency) = (?, ?, ?)
   AND t.balance_version > ? AND t.balance_version <= ?`;

/** Adds up the postings of a range. */
export async function sumPostings(
  db: Reader,
  { accountId, mode, currency }: BalanceKey,
  after: number,
  last: number,
): Promise<DaySum[]> {
  const sums: DaySum[] = [];
  for (let from = after; from < last; from += READ_MAX) {
    const range = [from, Math.min(from + READ_MAX, last)];
    const found = await db.query<DaySum>(
      `SELECT to_char(t.posted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, ${SUMS}
        GROUP BY 1, 2, 3, 4`,
      [accountId, mode, currency, ...range],
    );
    sums.push(...found);
  }
  return sums;
}

/** Pieces are stored in order, so those before this number are. */
export async function countStoredPieces(db: Reader, key: BalanceKey): Promise<number> {
  const [found] = await db.query<{ count: number }>(
    `SELECT coalesce(max(piece) + 1, 0)::integer AS count FROM posting_sums
      WHERE (account_id, mode, currency) = (?, ?, ?)`,
    [key.accountId, key.mode, key.currency],
  );
  return found?.count ?? 0;
}

/** The stored sums of the pieces from `first` to before `end`. */
export async function readStoredSums(
  db: Reader,
  key: BalanceKey,
  first: number,
  end: number,
): Promise<DaySum[]> {
  return db.query<DaySum>(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day, type, account, direction,
            sum(amount)::numeric(38,8) AS amount, sum(postings)::integer AS postings
       FROM posting_sums
      WHERE (account_id, mode, currency) = (?, ?, ?) AND piece >= ? AND piece < ?
      GROUP BY 1, 2, 3, 4`,
    [key.accountId, key.mode, key.currency, first, end],
  );
}

const LISTED_MAX = 1_000;

/** The balances with a full piece that is not stored. */
export async function listUnsummedBalances(db: Db): Promise<BalanceKey[]> {
  return db.query<BalanceKey>(
    `SELECT account_id, mode, currency FROM balances b
      WHERE version >= ? AND NOT EXISTS (
        SELECT FROM posting_sums s
         WHERE (s.account_id, s.mode, s.currency) = (b.account_id, b.mode, b.currency)
           AND s.piece = b.version / ? - 1)
      LIMIT ?`,
    [PIECE, PIECE, LISTED_MAX],
  );
}

/**
 * Stores the next full pieces of a balance, at most as many as one statement reads. Safe to run twice,
 * also concurrently.
 */
export async function storeSums(db: Db, { accountId, mode, currency }: BalanceKey): Promise<void> {
  const key = [accountId, mode, currency];
  const [balance] = await db.query<{ full: number }>(
    `SELECT (version / ?)::integer AS full FROM balances
      WHERE (account_id, mode, currency) = (?, ?, ?)`,
    [PIECE, ...key],
  );
  const next = await countStoredPieces(db, { accountId, mode, currency });
  const end = Math.min(balance?.full ?? 0, next + READ_MAX / PIECE);
  if (end <= next) return;
  await db.query(
    `INSERT INTO posting_sums
     SELECT t.account_id, t.mode, t.currency, (t.balance_version - 1) / ? AS piece,
            (t.posted_at AT TIME ZONE 'UTC')::date AS day, ${SUMS}
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 4, 5, 6, 7, 8
     ON CONFLICT DO NOTHING`,
    [PIECE, ...key, next * PIECE, end * PIECE],
  );
}
