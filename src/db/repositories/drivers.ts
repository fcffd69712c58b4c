/** Everything that must have a workflow at this moment (invariant 12). */
import { rows, type Db } from '../transaction';
import { PAYMENT_NEEDS_DRIVER } from './payment-drivers';
import { PAYOUT_NEEDS_DRIVER } from './payout-drivers';

export interface DrivenObject {
  id: string;
  status: string;
}

const DRIVEN = `
  SELECT id, status FROM payouts WHERE ${PAYOUT_NEEDS_DRIVER}
  UNION ALL
  SELECT id, status FROM payments WHERE ${PAYMENT_NEEDS_DRIVER}`;

export async function listDriven(db: Db): Promise<DrivenObject[]> {
  return rows<DrivenObject>(db, `SELECT id, status FROM (${DRIVEN}) AS driven ORDER BY id`);
}

/** Those of the ids that need one still. */
export async function listStillDriven(db: Db, ids: readonly string[]): Promise<DrivenObject[]> {
  return rows<DrivenObject>(
    db,
    `SELECT id, status FROM (${DRIVEN}) AS driven WHERE id = ANY (?::text[]) ORDER BY id`,
    [[...ids]],
  );
}
