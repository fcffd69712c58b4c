/** The amounts above which two operators approve a payout, each with the change that is proposed. */
import type { Amount } from '../../domain/money';
import { lockByName, type Db, type Tx } from '../transaction';
import { OPEN } from './policy-proposals';

/** A proposed threshold. */
export interface ThresholdProposal {
  id: string;
  /** Null removes the threshold. */
  amount: Amount | null;
  proposedBy: string;
  reason: string | null;
  createdAt: Date;
}

/** The threshold of a currency with its proposed change. */
export interface FourEyesSetting {
  currency: string;
  /** Null if one approval is enough for every amount. */
  threshold: Amount | null;
  proposal: ThresholdProposal | null;
}

type FourEyesRow = Omit<FourEyesSetting, 'proposal'> & {
  [Name in keyof ThresholdProposal]: ThresholdProposal[Name] | null;
};

/** The settings, one for each currency. */
export async function listFourEyes(
  db: Db | Tx,
  currencies: readonly string[],
): Promise<FourEyesSetting[]> {
  const found = await db.query<FourEyesRow>(
    `SELECT asked.currency, t.amount AS threshold, p.id, (p.wish->>'amount')::numeric(38,8) AS amount,
            p.proposed_by, p.reason, p.created_at
       FROM unnest(?::text[]) AS asked(currency)
       LEFT JOIN four_eyes_thresholds t USING (currency)
       LEFT JOIN policy_proposals p ON p.account_id IS NULL AND p.wish->>'kind' = 'threshold'
         AND p.wish->>'currency' = asked.currency AND ${OPEN}
      ORDER BY asked.currency`,
    [[...currencies]],
  );
  return found.map(({ currency, threshold, id, amount, proposedBy, reason, createdAt }) => ({
    currency,
    threshold,
    proposal:
      id === null || proposedBy === null || createdAt === null
        ? null
        : { id, amount, proposedBy, reason, createdAt },
  }));
}

/** Sets or removes a threshold. @returns the amount that was in force */
export async function replaceThreshold(
  tx: Tx,
  currency: string,
  amount: Amount | null,
): Promise<Amount | null> {
  await lockByName(tx, 'four_eyes', currency);
  const [before] = await tx.query<{ amount: Amount }>(
    'SELECT amount FROM four_eyes_thresholds WHERE currency = ?',
    [currency],
  );
  if (amount === null) {
    await tx.query('DELETE FROM four_eyes_thresholds WHERE currency = ?', [currency]);
  } else {
    await tx.query(
      `INSERT INTO four_eyes_thresholds (currency, amount) VALUES (?, ?)
       ON CONFLICT (currency) DO UPDATE SET amount = excluded.amount`,
      [currency, amount],
    );
  }
  return before?.amount ?? null;
}
