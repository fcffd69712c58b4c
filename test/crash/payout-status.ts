/** Waits for payouts by their rows: hundreds of them may wait without meeting the rate limit. */
import type { Db } from '../../src/db/transaction';
import { waitThroughFaults } from '../support/wait-for';

const FINAL = ['completed', 'failed', 'rejected', 'cancelled'];

export async function payoutStatus(db: Db, id: string): Promise<string | undefined> {
  const [row] = await db.query<{ status: string }>('SELECT status FROM payouts WHERE id = ?', [id]);
  return row?.status;
}

/** @returns the status of `wanted` that it has reached */
export function whenStatus(db: Db, id: string, ...wanted: string[]): Promise<string> {
  return waitThroughFaults(`${id} to be ${wanted.join(' or ')}`, async () => {
    const status = await payoutStatus(db, id);
    return status !== undefined && wanted.includes(status) ? status : undefined;
  });
}

export function whenFinal(db: Db, id: string): Promise<string> {
  return whenStatus(db, id, ...FINAL);
}
