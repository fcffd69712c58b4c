/** Posts by the functions of db/migrations/baseline/ledger.ts, the only writers of money, and reads balances. */
import type { Posting } from '../../domain/ledger';
import { type Amount, amount, ZERO } from '../../domain/money';
import type { Mode, Owner } from '../../domain/mode';
import { newId } from '../../platform/lib/new-id';
import type { Db, Reader, Tx } from '../transaction';
import { IS_PENDING, PENDING_AMOUNT } from '../payments/pending-payments';

/** Identifies a balance: account, mode and currency. */
export interface BalanceKey extends Owner {
  currency: string;
}

/** What a posting did. */
export interface PostResult {
  /** `replayed` means that this operation key was already posted, and nothing moved this time. */
  outcome: 'posted' | 'replayed' | 'insufficient';
  available: Amount;
  reserved: Amount;
}

/**
 * Posts to the ledger. It must be the last statement of the caller's transaction, or the only one,
 * because from here to COMMIT the balance is locked. `insufficient` means that available would fall
 * below zero; the caller rolls back.
 */
export async function post(tx: Db | Tx, key: BalanceKey, posting: Posting): Promise<PostResult> {
  // Each function is granted to another role.
  const writer = posting.type === 'adjustment' ? 'ledger_adjust' : 'ledger_post';
  const [row] = await tx.prepared<{
    outcome: PostResult['outcome'];
    available: string | null;
    reserved: string | null;
  }>(`SELECT * FROM ${writer}(${PARAMETERS})`, parametersOf(key, posting));
  if (row === undefined) throw new Error('ledger_post returned no row');
  return {
    outcome: row.outcome,
    available: amount(row.available ?? ZERO),
    reserved: amount(row.reserved ?? ZERO),
  };
}

const PARAMETERS = '?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb';

function parametersOf({ accountId, mode, currency }: BalanceKey, posting: Posting): string[] {
  return [
    newId('transaction'),
    posting.operationKey,
    accountId,
    mode,
    currency,
    posting.type,
    posting.description,
    posting.source.object,
    posting.source.id,
    JSON.stringify(posting.lines),
  ];
}

/**
 * Posts with the transaction's COMMIT, which fails unless this posting is new and covered: after a guarded
 * UPDATE that allows a change once, anything else is a broken ledger.
 */
export function postAtCommit(tx: Tx, key: BalanceKey, posting: Posting): void {
  tx.sendWithNext(
    `SELECT CASE outcome WHEN 'posted' THEN true
                 ELSE (operation_key || ': ledger_post was ' || outcome)::boolean END
       FROM ledger_post(${PARAMETERS}), (SELECT ?::text) AS operation(operation_key)`,
    [...parametersOf(key, posting), posting.operationKey],
  );
}

/** A balance as GET /balance shows it. */
export interface Balance {
  currency: string;
  available: Amount;
  reserved: Amount;
  /** Seen by a provider but not credited yet; not part of the ledger (decisions/money#pending-balance). */
  pending: Amount;
}

export async function listBalances(db: Reader, accountId: string, mode: Mode): Promise<Balance[]> {
  return db.query<Balance>(
    `WITH q (account_id, mode) AS (VALUES (?, ?)),
     held AS (
       SELECT b.currency, b.available, b.reserved FROM balances b JOIN q USING (account_id, mode)
     ), seen AS (
       SELECT p.currency, sum(${PENDING_AMOUNT}) AS pending
         FROM payments p JOIN q USING (account_id, mode)
        WHERE ${IS_PENDING} GROUP BY p.currency
     )
     SELECT currency, coalesce(available, 0)::numeric(38,8) AS available,
            coalesce(reserved, 0)::numeric(38,8) AS reserved,
            coalesce(pending, 0)::numeric(38,8) AS pending
       FROM held FULL JOIN seen USING (currency) ORDER BY currency`,
    [accountId, mode],
  );
}

/** A posted adjustment with the current balance. */
export interface PostedAdjustment extends BalanceKey {
  reason: string;
  direction: 'in' | 'out';
  amount: Amount;
  available: Amount;
  reserved: Amount;
}

/** @param id `adj_…` */
export async function findAdjustment(db: Db, id: string): Promise<PostedAdjustment | null> {
  const [posted] = await db.query<PostedAdjustment>(
    `SELECT t.account_id, t.mode, t.currency, t.description AS reason,
            e.direction, e.amount, b.available, b.reserved
       FROM ledger_transactions t
       JOIN ledger_entries e ON e.transaction_id = t.id AND e.account = 'available'
       JOIN balances b USING (account_id, mode, currency)
      WHERE t.source_id = ? AND t.type = 'adjustment'`,
    [id],
  );
  return posted ?? null;
}

/** The balances of both modes. */
export async function listAllBalances(
  db: Db,
  accountId: string,
): Promise<(Omit<Balance, 'pending'> & { mode: Mode })[]> {
  return db.query(
    `SELECT mode, currency, available, reserved FROM balances
      WHERE account_id = ? ORDER BY mode, currency`,
    [accountId],
  );
}
