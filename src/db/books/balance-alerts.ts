/** The amounts below which the people of an account are notified, for each mode and currency. */
import type { Amount } from '../../domain/money';
import type { Owner } from '../../domain/mode';
import type { Reader, Tx } from '../transaction';

/** The amount of each currency below which people are notified. */
export type BalanceAlerts = Record<string, Amount>;

export async function findBalanceAlerts(
  db: Reader,
  { accountId, mode }: Owner,
): Promise<BalanceAlerts> {
  const rows = await db.query<{ currency: string; below: Amount }>(
    `SELECT currency, below FROM balance_alerts WHERE account_id = ? AND mode = ? ORDER BY currency`,
    [accountId, mode],
  );
  return Object.fromEntries(rows.map(({ currency, below }) => [currency, below]));
}

/** Saves the amounts. A low balance is not reported again because its amount was saved again or changed. */
export async function saveBalanceAlerts(
  tx: Tx,
  { accountId, mode }: Owner,
  alerts: BalanceAlerts,
): Promise<void> {
  await tx.query(
    `DELETE FROM balance_alerts
      WHERE account_id = ? AND mode = ? AND NOT currency = ANY (?::text[])`,
    [accountId, mode, Object.keys(alerts)],
  );
  for (const [currency, below] of Object.entries(alerts)) {
    await tx.query(
      `INSERT INTO balance_alerts (account_id, mode, currency, below) VALUES (?, ?, ?, ?)
       ON CONFLICT (account_id, mode, currency) DO UPDATE SET below = excluded.below`,
      [accountId, mode, currency, below],
    );
  }
}
