/**
 * Sums of a balance's postings by day. The postings of a balance are numbered without a gap and in the
 * order of time, so that a day is found by halving, and any range is read in pieces of a bounded size.
 */
import type { MerchantLedgerAccount, PlatformLedgerAccount } from '../../domain/ledger';
import type { TransactionType } from '../../domain/ledger';
import { type Amount, ZERO } from '../../domain/money';
import { rows, type Db } from '../transaction';
import type { BalanceKey } from './ledger';

/** Postings of one statement of SQL. */
export const PIECE = 10_000;

/** The number of postings before this time. */
export async function countPostings(
  db: Db,
  { accountId, mode, currency }: BalanceKey,
  before: Date,
): Promise<number> {
  const [found] = await rows<{ low: number }>(
    db,
    `WITH RECURSIVE q (account_id, mode, currency, before) AS (
       VALUES (?::text, ?::text, ?::text, ?::timestamptz)
     ), search (low, high) AS (
       SELECT 0::bigint, b.version FROM balances b JOIN q USING (account_id, mode, currency)
       UNION ALL
       SELECT CASE WHEN t.posted_at < q.before THEN m.middle ELSE s.low END,
              CASE WHEN t.posted_at < q.before THEN s.high ELSE m.middle - 1 END
         FROM search s CROSS JOIN q CROSS JOIN LATERAL (SELECT (s.low + s.high + 1) / 2) AS m(middle)
         JOIN ledger_transactions t ON (t.account_id, t.mode, t.currency, t.balance_version)
                                     = (q.account_id, q.mode, q.currency, m.middle)
        WHERE s.low < s.high
     )
     SELECT low::integer FROM search WHERE low = high`,
    [accountId, mode, currency, before],
  );
  return found?.low ?? 0;
}

/** When the first posting was made; null without one. */
export async function firstPostedAt(db: Db, key: BalanceKey): Promise<Date | null> {
  const [first] = await rows<{ postedAt: Date }>(
    db,
    `SELECT posted_at FROM ledger_transactions
      WHERE (account_id, mode, currency, balance_version) = (?, ?, ?, 1)`,
    [key.accountId, key.mode, key.currency],
  );
  return first?.postedAt ?? null;
}

/** What the account held after this many postings. */
export async function balanceAfter(
  db: Db,
  key: BalanceKey,
  account: MerchantLedgerAccount,
  postings: number,
): Promise<Amount> {
  for (let last = postings; last > 0; last -= PIECE) {
    const [found] = await rows<{ balanceAfter: Amount }>(
      db,
      `SELECT e.balance_after FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE (t.account_id, t.mode, t.currency) = (?, ?, ?)
          AND t.balance_version > ? AND t.balance_version <= ? AND e.account = ?
        ORDER BY t.balance_version DESC, e.line DESC LIMIT 1`,
      [key.accountId, key.mode, key.currency, last - PIECE, last, account],
    );
    if (found !== undefined) return found.balanceAfter;
  }
  return ZERO;
}

export interface DaySum {
  /** `2026-11-22`, in UTC. */
  day: string;
  type: TransactionType;
  account: MerchantLedgerAccount | PlatformLedgerAccount;
  direction: 'in' | 'out';
  amount: Amount;
  /** Counted once for each transaction. */
  postings: number;
}

/** @param after postings before the first of the range; at most PIECE of them */
export async function sumPostings(
  db: Db,
  key: BalanceKey,
  after: number,
  last: number,
): Promise<DaySum[]> {
  return rows<DaySum>(
    db,
    `SELECT to_char(t.posted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, t.type, e.account,
            e.direction, sum(e.amount)::numeric(38,8) AS amount,
            (count(*) FILTER (WHERE e.line = 1))::integer AS postings
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE (t.account_id, t.mode, t.currency) = (?, ?, ?)
        AND t.balance_version > ? AND t.balance_version <= ?
      GROUP BY 1, 2, 3, 4`,
    [key.accountId, key.mode, key.currency, after, last],
  );
}
