/**
 * The maximum amounts of payouts per currency: limits (decisions/controls#payout-limits) and automatic approval
 * (decisions/controls#payout-review). Each maximum of an account is either its own or inherited from the default.
 */
import type { Amount } from '../../domain/money';
import { lockByName, type Db, type Tx } from '../transaction';

/** The column of each maximum; `inherited` of a row contains column names. */
export const MAXIMUM_COLUMNS = {
  perTransactionMax: 'per_transaction_max',
  dailyMax: 'daily_max',
  autoApproveMax: 'auto_approve_max',
  autoApproveDailyMax: 'auto_approve_daily_max',
} as const;
export type Maximum = keyof typeof MAXIMUM_COLUMNS;
export const MAXIMA = Object.keys(MAXIMUM_COLUMNS) as Maximum[];

/** The scope of a policy. Without an account it is the default. */
export interface PolicyScope {
  accountId: string | null;
  currency: string;
}

/** The maxima. Null means no maximum, or one that was never set (see `unset`). */
export type Maxima = Record<Maximum, Amount | null>;

/** The maxima in force for one currency. */
export interface Policy extends Maxima {
  currency: string;
  fromDefault: Maximum[];
  /**
   * The maxima that were never set, not even to `none`. Payouts are refused until limits are set.
   */
  unset: Maximum[];
}

/** Locks the scope for the rest of the transaction, whether it has a row or not. */
export async function lockPolicy(tx: Tx, { accountId, currency }: PolicyScope): Promise<Policy> {
  await lockByName(tx, 'payout_policies', accountId, currency);
  const [policy] = await inForce(tx, accountId, [currency]);
  if (policy === undefined) throw new Error('payout_policy returned no row');
  return policy;
}

/** The policies, one for each currency. */
export async function listPolicies(
  db: Db,
  accountId: string | null,
  currencies: readonly string[],
): Promise<Policy[]> {
  return inForce(db, accountId, currencies);
}

async function inForce(
  db: Db | Tx,
  accountId: string | null,
  currencies: readonly string[],
): Promise<Policy[]> {
  const found = await db.query<
    Maxima & { currency: string; fromDefault: string[]; unset: string[] }
  >(
    `SELECT asked.currency, p.per_transaction_max, p.daily_max, p.auto_approve_max,
            p.auto_approve_daily_max, p.from_default, p.unset
       FROM unnest(?::text[]) AS asked(currency)
      CROSS JOIN LATERAL payout_policy(?, asked.currency) p
      ORDER BY asked.currency`,
    [[...currencies], accountId],
  );
  const named = (columns: string[]) =>
    MAXIMA.filter((name) => columns.includes(MAXIMUM_COLUMNS[name]));
  return found.map(({ fromDefault, unset, ...policy }) => ({
    ...policy,
    fromDefault: named(fromDefault),
    unset: named(unset),
  }));
}

/** Writes the whole row; inherited and unset maxima are stored as null. */
export async function savePolicy(
  tx: Tx,
  { accountId, currency }: PolicyScope,
  maxima: Maxima,
  inherited: readonly Maximum[],
): Promise<void> {
  const columns = Object.values(MAXIMUM_COLUMNS);
  await tx.query(
    `INSERT INTO payout_policies (account_id, currency, ${columns.join(', ')}, inherited)
     VALUES (?, ?, ?, ?, ?, ?, ?::text[])
     ON CONFLICT (account_id, currency) DO UPDATE SET
       ${columns.map((column) => `${column} = excluded.${column}`).join(', ')},
       inherited = excluded.inherited`,
    [
      accountId,
      currency,
      ...MAXIMA.map((name) => (inherited.includes(name) ? null : maxima[name])),
      inherited.map((name) => MAXIMUM_COLUMNS[name]),
    ],
  );
}
