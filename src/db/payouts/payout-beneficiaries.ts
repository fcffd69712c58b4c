/** The beneficiaries of payouts, which are encrypted (decisions/payouts#beneficiaries). */
import { OPEN_PAYOUT_STATUSES, type Payout } from '../../domain/payout';
import type { SealedSecret } from '../../platform/lib/secret-box';
import { sqlList, type Tx } from '../transaction';

/** SQL over a row of payouts: its beneficiary as a StoredBeneficiary, or null. */
export const BENEFICIARY = `(
  SELECT jsonb_build_object('sealed', encode(b.sealed, 'base64'), 'keyId', b.key_id)
    FROM payout_beneficiaries b WHERE b.payout_id = payouts.id) AS beneficiary`;

/**
 * Inserts the beneficiaries of new payouts with the transaction's next statement; none of a payout that is
 * not there, because its reference was taken.
 */
export function insertBeneficiaries(
  tx: Tx,
  payouts: readonly Pick<Payout, 'id' | 'beneficiary'>[],
): void {
  const rows = payouts.flatMap(({ id, beneficiary }) =>
    beneficiary == null
      ? []
      : [{ payout_id: id, sealed: beneficiary.sealed, key_id: beneficiary.keyId }],
  );
  if (rows.length === 0) return;
  tx.sendWithNext(
    `INSERT INTO payout_beneficiaries (payout_id, sealed, key_id)
     SELECT p.id, decode(b.sealed, 'base64'), b.key_id
       FROM jsonb_to_recordset(?::jsonb) AS b (payout_id text, sealed text, key_id text)
       JOIN payouts p ON p.id = b.payout_id`,
    [JSON.stringify(rows)],
  );
}

/** Locks and returns some beneficiaries that are encrypted with another key, to encrypt them again. */
export async function lockBeneficiariesOfOtherKeys(
  tx: Tx,
  keyId: string,
  limit: number,
): Promise<(SealedSecret & { payoutId: string })[]> {
  // Two ranges of the index, of which an inequality would use none.
  return tx.query(
    `SELECT payout_id, sealed, key_id FROM payout_beneficiaries
      WHERE (key_id < ? OR key_id > ?) AND sealed IS NOT NULL LIMIT ? FOR NO KEY UPDATE`,
    [keyId, keyId, limit],
  );
}

export async function replaceBeneficiary(
  tx: Tx,
  payoutId: string,
  { sealed, keyId }: SealedSecret,
): Promise<void> {
  const sql = 'UPDATE payout_beneficiaries SET sealed = ?, key_id = ? WHERE payout_id = ?';
  await tx.query(sql, [sealed, keyId, payoutId]);
}

/**
 * Erases some beneficiaries of payouts that ended before a time: nothing is sent for them any more.
 * @returns how many; fewer than `limit` when no more were found
 */
export async function eraseBeneficiariesBefore(
  tx: Tx,
  before: Date,
  limit: number,
): Promise<number> {
  const erased = await tx.query(
    `UPDATE payout_beneficiaries SET sealed = NULL, erased_at = clock_timestamp()
      WHERE payout_id IN (
        SELECT b.payout_id FROM payout_beneficiaries b JOIN payouts p ON p.id = b.payout_id
         WHERE b.sealed IS NOT NULL AND p.updated_at < ?
           AND p.status NOT IN (${sqlList(OPEN_PAYOUT_STATUSES)}) LIMIT ? FOR UPDATE OF b SKIP LOCKED)
     RETURNING payout_id`,
    [before, limit],
  );
  return erased.length;
}
