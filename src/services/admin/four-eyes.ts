/**
 * The thresholds above which two operators approve a payout. A change needs two people as well: one
 * proposes it and another confirms it, naming the amount, so that nobody confirms what was replaced.
 */
import { listCurrencies } from '../../db/repositories/currency-routes';
import {
  deleteProposal,
  type FourEyesSetting,
  listFourEyes,
  lockFourEyes,
  saveProposal,
  saveThreshold,
  takeProposal,
  type ThresholdProposal,
} from '../../db/repositories/four-eyes';
import { areRelatedOperators } from '../../db/repositories/related-operators';
import type { Db, Tx } from '../../db/transaction';
import type { Amount } from '../../domain/money';
import { type ChangedBy, makeChange } from './audit';
import { amountOrZero, checkCurrency } from './checks';
import { AdminRefusal } from './refusal';

export type { FourEyesSetting } from '../../db/repositories/four-eyes';

export interface ThresholdChange {
  currency: string;
  /** As text: an amount, or `none` to remove the threshold. */
  above: string;
}

export async function listThresholds(db: Db): Promise<FourEyesSetting[]> {
  return listFourEyes(db, await listCurrencies(db));
}

/** Takes the place of an earlier proposal. @throws InvalidInput */
export async function proposeThreshold(
  db: Db,
  by: ChangedBy,
  { currency, above }: ThresholdChange,
): Promise<FourEyesSetting> {
  const amount = readAbove(above);
  await checkCurrency(db, currency);
  return change(db, by, 'four_eyes.propose', currency, async (tx) => {
    await saveProposal(tx, currency, { amount, proposedBy: by.actor, reason: by.reason });
  });
}

/** @throws InvalidInput, AdminRefusal for one's own proposal and for another amount */
export async function confirmThreshold(
  db: Db,
  by: ChangedBy,
  { currency, above }: ThresholdChange,
): Promise<FourEyesSetting> {
  const amount = readAbove(above);
  return change(db, by, 'four_eyes.confirm', currency, async (tx, before) => {
    const proposal = requireProposal(before);
    if (proposal.amount !== amount) {
      throw new AdminRefusal({ code: 'other_threshold_proposed', currency, proposal });
    }
    if (await areRelatedOperators(tx, proposal.proposedBy, by.actor)) {
      throw new AdminRefusal({ code: 'related_operator', other: proposal.proposedBy });
    }
    if (!(await takeProposal(tx, currency, { amount, confirmedBy: by.actor }))) {
      throw new AdminRefusal({ code: 'own_proposal', actor: by.actor });
    }
    await saveThreshold(tx, currency, amount);
  });
}

/** @throws AdminRefusal */
export async function withdrawThreshold(
  db: Db,
  by: ChangedBy,
  currency: string,
): Promise<FourEyesSetting> {
  return change(db, by, 'four_eyes.withdraw', currency, async (tx, before) => {
    requireProposal(before);
    await deleteProposal(tx, currency);
  });
}

function readAbove(text: string): Amount | null {
  return text === 'none' ? null : amountOrZero('above', text);
}

function requireProposal({ currency, proposal }: FourEyesSetting): ThresholdProposal {
  if (proposal === null) throw new AdminRefusal({ code: 'no_threshold_proposed', currency });
  return proposal;
}

async function change(
  db: Db,
  by: ChangedBy,
  action: string,
  currency: string,
  work: (tx: Tx, before: FourEyesSetting) => Promise<void>,
): Promise<FourEyesSetting> {
  return makeChange(db, by, async (tx) => {
    const before = await lockFourEyes(tx, currency);
    await work(tx, before);
    const after = await lockFourEyes(tx, currency);
    const audit = {
      action,
      object: 'four_eyes_threshold',
      objectId: currency,
      accountId: null,
      before: presentSetting(before),
      after: presentSetting(after),
    };
    return { result: after, audit };
  });
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
