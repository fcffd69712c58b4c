/** The payouts that wait, as an operator sees them. */
import type { Db } from '../db/database';

export interface WaitingTransfer {
  reference: string;
  network: string;
  amount: string;
  asset: string;
  reason: string;
  detail: string | null;
  since: string;
}

const SHOWN_MAX = 1_000;

/** The longest wait first. */
export async function listWaiting(db: Db): Promise<WaitingTransfer[]> {
  const rows = await db.query<Omit<WaitingTransfer, 'since'> & { since: Date }>(
    `SELECT client_reference AS reference, network, trim_scale(amount)::text AS amount, asset,
       waiting_for AS reason, waiting_detail AS detail, waiting_since AS since
     FROM wallet.transfer WHERE waiting_for IS NOT NULL
     ORDER BY waiting_since, id LIMIT ${SHOWN_MAX}`,
  );
  return rows.map((row) => ({ ...row, since: row.since.toISOString() }));
}

/** One line for people. */
export function describeWaiting(one: WaitingTransfer): string {
  const why = one.detail === null ? '' : `: ${one.detail}`;
  return `${one.since}  ${one.reference}  ${one.amount} ${one.asset} on ${one.network}, waits for ${one.reason}${why}\n`;
}
