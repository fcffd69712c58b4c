/** The amounts above which two operators approve a payout, and the changes that wait for an admin. */
import type { Amount } from '../../domain/money';
import { lockByName, rows, type Db, type Tx } from '../transaction';
import { areRelatedByEmail } from './related-operators';

export interface ThresholdProposal {
  /** Null removes the threshold. */
  amount: Amount | null;
  proposedBy: string;
  reason: string | null;
  createdAt: Date;
}

export interface FourEyesSetting {
  currency: string;
  /** Null: one approval is enough for every amount. */
  threshold: Amount | null;
  proposal: ThresholdProposal | null;
}

/** A proposal ends after the same time as one about an account. */
const PROPOSAL_DAYS = 7;

/** The settings, one for each currency. */
export async function listFourEyes(
  db: Db | Tx,
  currencies: readonly string[],
): Promise<FourEyesSetting[]> {
  const found = await rows<
    { currency: string; threshold: Amount | null } & {
      [Name in keyof ThresholdProposal]: ThresholdProposal[Name] | null;
    }
  >(
    db,
    `SELECT asked.currency, t.amount AS threshold, p.amount, p.proposed_by, p.reason, p.created_at
       FROM unnest(?::text[]) AS asked(currency)
       LEFT JOIN four_eyes_thresholds t USING (currency)
       LEFT JOIN four_eyes_proposals p
         ON p.currency = asked.currency AND p.created_at > now() - interval '${PROPOSAL_DAYS} days'
      ORDER BY asked.currency`,
    [[...currencies]],
  );
  return found.map(({ currency, threshold, amount, proposedBy, reason, createdAt }) => ({
    currency,
    threshold,
    proposal:
      proposedBy === null || createdAt === null ? null : { amount, proposedBy, reason, createdAt },
  }));
}

/** Locks the currency's setting for the rest of the transaction. */
export async function lockFourEyes(tx: Tx, currency: string): Promise<FourEyesSetting> {
  await lockByName(tx, 'four_eyes', currency);
  const [setting] = await listFourEyes(tx, [currency]);
  if (setting === undefined) throw new Error('the query returned no row');
  return setting;
}

export async function saveProposal(
  tx: Tx,
  currency: string,
  { amount, proposedBy, reason }: Omit<ThresholdProposal, 'createdAt'>,
): Promise<void> {
  await deleteProposal(tx, currency);
  await rows(
    tx,
    `INSERT INTO four_eyes_proposals (currency, amount, proposed_by, reason) VALUES (?, ?, ?, ?)`,
    [currency, amount, proposedBy, reason],
  );
}

export async function deleteProposal(tx: Tx, currency: string): Promise<void> {
  await rows(tx, 'DELETE FROM four_eyes_proposals WHERE currency = ?', [currency]);
}

/** Takes a proposal for approval. False: it is the approver's own, or has another amount. */
export async function takeProposal(
  tx: Tx,
  currency: string,
  { amount, confirmedBy }: { amount: Amount | null; confirmedBy: string },
): Promise<boolean> {
  const taken = await rows(
    tx,
    `DELETE FROM four_eyes_proposals
      WHERE currency = ? AND amount IS NOT DISTINCT FROM ?::numeric
        AND lower(proposed_by) <> lower(?)
        AND NOT ${areRelatedByEmail('proposed_by', '?')} RETURNING currency`,
    [currency, amount, confirmedBy, confirmedBy],
  );
  return taken.length > 0;
}

export async function saveThreshold(
  tx: Tx,
  currency: string,
  amount: Amount | null,
): Promise<void> {
  if (amount === null) {
    await rows(tx, 'DELETE FROM four_eyes_thresholds WHERE currency = ?', [currency]);
    return;
  }
  await rows(
    tx,
    `INSERT INTO four_eyes_thresholds (currency, amount) VALUES (?, ?)
     ON CONFLICT (currency) DO UPDATE SET amount = excluded.amount`,
    [currency, amount],
  );
}
