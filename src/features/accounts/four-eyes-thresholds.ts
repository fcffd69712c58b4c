/**
 * The thresholds above which two operators approve a payout. A change is a proposal (policy-proposals.ts)
 * whose confirmation names the amount, so that nobody confirms what was replaced.
 */
import { listCurrencies } from '../../db/accounts/currency-routes';
import {
  type FourEyesSetting,
  listFourEyes,
  type ThresholdProposal,
} from '../../db/accounts/four-eyes';
import type { Db, Tx } from '../../db/transaction';
import type { Amount } from '../../domain/money';
import { approve, propose, reject } from './policy-proposals';
import type { ChangedBy } from '../../kit/service/audit';
import { amountOrZero } from '../../kit/service/checks';
import { AdminRefusal } from '../../kit/service/refusal';
import { type InputOf, Text } from '../../kit/service/change';

export type { FourEyesSetting } from '../../db/accounts/four-eyes';

/** The field of a proposal, on the page and in the command. */
export const THRESHOLD = {
  fields: {
    above: Text(40, {
      label: 'Two approvals above',
      hint: 'An amount, or “none” so that one approval is enough',
      value: 'AMOUNT',
    }),
  },
};

interface ThresholdChange extends InputOf<typeof THRESHOLD> {
  currency: string;
}

export async function listThresholds(db: Db): Promise<FourEyesSetting[]> {
  return listFourEyes(db, await listCurrencies(db));
}

/** Replaces an open proposal of the currency. @throws InvalidInput, AdminRefusal */
export async function proposeThreshold(
  db: Db,
  by: ChangedBy,
  { currency, above }: ThresholdChange,
): Promise<FourEyesSetting> {
  const wish = { kind: 'threshold', currency, amount: readAbove(above) } as const;
  return db.transaction(async (tx) => {
    await propose(tx, by, { accountId: null, wish });
    return readSetting(tx, currency);
  });
}

/** @throws InvalidInput, AdminRefusal for one's own proposal and for another amount */
export async function confirmThreshold(
  db: Db,
  by: ChangedBy,
  { currency, above }: ThresholdChange,
): Promise<FourEyesSetting> {
  const amount = readAbove(above);
  return db.transaction(async (tx) => {
    const proposal = await requireProposal(tx, currency);
    if (proposal.amount !== amount) {
      throw new AdminRefusal({ code: 'other_threshold_proposed', currency, proposal });
    }
    await approve(tx, by, proposal.id);
    return readSetting(tx, currency);
  });
}

/** @throws AdminRefusal */
export async function withdrawThreshold(
  db: Db,
  by: ChangedBy,
  currency: string,
): Promise<FourEyesSetting> {
  return db.transaction(async (tx) => {
    const { id } = await requireProposal(tx, currency);
    await reject(tx, by, id);
    return readSetting(tx, currency);
  });
}

function readAbove(text: string): Amount | null {
  return text === 'none' ? null : amountOrZero('above', text);
}

async function readSetting(tx: Tx, currency: string): Promise<FourEyesSetting> {
  const [setting] = await listFourEyes(tx, [currency]);
  if (setting === undefined) throw new Error('the query returned no row');
  return setting;
}

async function requireProposal(tx: Tx, currency: string): Promise<ThresholdProposal> {
  const { proposal } = await readSetting(tx, currency);
  if (proposal === null) throw new AdminRefusal({ code: 'no_threshold_proposed', currency });
  return proposal;
}

export function presentSetting({ currency, threshold, proposal }: FourEyesSetting) {
  return {
    object: 'four_eyes_threshold',
    currency,
    above: threshold,
    proposed: proposal === null ? null : (proposal.amount ?? 'none'),
    proposed_by: proposal?.proposedBy ?? null,
    proposed_at: proposal?.createdAt.toISOString() ?? null,
  };
}
