/**
 * The provider's part of a payout: submission, queries when the answer was lost, and checks until
 * the provider has finished. The payout's id is the client reference at the provider, so a repeated
 * submission is sent once. A pause holds repeated submissions like first ones. No funds are released
 * while the provider might still send (decisions/payouts#payouts-in-doubt).
 */
import { openCase } from '../../src/db/cases/cases';
import { beginSubmission } from '../../src/db/payouts/payout-submissions';
import { getPayout, noteOnPayout } from '../../src/db/payouts/payouts';
import { databaseTime } from '../../src/db/database-time';
import type { Beneficiary } from '../../src/domain/beneficiary';
import { returnPosting, settlementPosting } from '../../src/domain/ledger';
import type { Payout } from '../../src/domain/payout';
import {
  attentionLevel,
  ESCALATION_AFTER_MS,
  nextAttemptMs,
  nextCheckMs,
} from '../../src/domain/provider-checks';
import { openBeneficiary } from '../../src/platform/lib/beneficiary-seal';
import type {
  Limited,
  PayoutOrder,
  Provider,
  ProviderTransfer,
} from '../../src/adapters/providers/port';
import type { PayoutState } from '../../workflows/messages';
import { type Deps, providerOf } from '../deps';
import { endHold, screenPayout } from './screen';
import { applyTransition, reportPayout, type Transition } from './transition';

/** @param isUntaken the provider answered the last submission with 429 */
export async function submitPayout(
  deps: Deps,
  payoutId: string,
  isUntaken: boolean,
): Promise<PayoutState> {
  const payout = await getPayout(deps.db, payoutId);
  if (payout.status !== 'approved') return reportDone(deps, payout);
  const provider = providerOf(deps, payout);
  const isRepeated = payout.submissionStartedAt !== null;
  // Asking first would be the second call of a limited provider.
  return deps.localCalls.run(payout, () => {
    if (!isRepeated) return submit(deps, payout, provider, 'none');
    return isUntaken ? submit(deps, payout, provider, 'untaken') : resume(deps, payout, provider);
  });
}

async function report(
  { db }: Pick<Deps, 'db'>,
  payout: Payout,
  wait: PayoutState['wait'] = null,
): Promise<PayoutState> {
  return reportPayout(payout, await databaseTime(db), wait);
}

/** An earlier run may have died between its commit and the start of the deliveries. */
function reportDone(deps: Deps, payout: Payout): Promise<PayoutState> {
  deps.webhookDeliveryStarter.lookFor(payout.id);
  return report(deps, payout);
}

/** An earlier run may have submitted, so ask first. Repeating the same reference is safe anyway. */
async function resume(deps: Deps, payout: Payout, provider: Provider): Promise<PayoutState> {
  const found = await provider.findPayout(payout.id, payout.network);
  switch (found.kind) {
    case 'found':
      return recordTransfer(deps, payout, found.transfer);
    case 'not_found':
      return submit(deps, payout, provider, 'not_found');
    case 'limited':
      return waitForLimit(deps, payout, payout.inDoubtSince, found);
    case 'unknown':
      return stayInDoubt(deps, payout, found.reason);
  }
}

/**
 * @param earlier the earlier submissions: the provider did not take the last one (429), or did not know
 *   of any when it was just asked. One may still reach it.
 */
async function submit(
  deps: Deps,
  { id, beneficiary: stored }: Pick<Payout, 'id' | 'beneficiary'>,
  provider: Provider,
  earlier: 'none' | 'untaken' | 'not_found',
): Promise<PayoutState> {
  // Before the submission begins, so that a payout that cannot be read is not in doubt.
  const beneficiary = openBeneficiary(deps.secretBox, stored, id);
  const submission = await beginSubmission(deps.db, id);
  if (submission.kind === 'held') {
    const why = `Waiting for an operator to resume payouts (paused: ${submission.reason}).`;
    return report(deps, await getPayout(deps.db, id), { ms: null, why });
  }
  if (submission.kind === 'unscreened') {
    // Earlier submissions are looked up first, without waiting for an answer of the screening.
    return earlier === 'untaken'
      ? resume(deps, submission.payout, provider)
      : screenPayout(deps, submission.payout);
  }
  // The payout was rejected in the meantime.
  if (submission.kind === 'not_approved') return report(deps, await getPayout(deps.db, id));
  const { payout, wasHeld } = submission;
  if (wasHeld) await endHold(deps, id);
  const result = await provider.submitPayout(orderOf(payout, beneficiary));
  switch (result.kind) {
    case 'accepted':
      return recordTransfer(deps, payout, result.transfer);
    case 'limited':
      return {
        ...(await waitForLimit(deps, payout, payout.inDoubtSince, result)),
        isUntaken: true,
      };
    case 'unknown':
      return stayInDoubt(deps, payout, result.reason);
    case 'refused':
      return earlier !== 'none'
        ? confirmRefusal(deps, payout, provider, result.reason)
        : refuse(deps, payout, result.reason);
  }
}

/**
 * The provider refused a repeated submission. An earlier one may have reached it since it was asked, so
 * it is asked once more before the funds are released.
 */
async function confirmRefusal(
  deps: Deps,
  payout: Payout,
  provider: Provider,
  reason: string,
): Promise<PayoutState> {
  const found = await provider.findPayout(payout.id, payout.network);
  switch (found.kind) {
    case 'found':
      return recordTransfer(deps, payout, found.transfer);
    case 'not_found':
      return refuse(deps, payout, reason);
    case 'limited':
      return waitForLimit(deps, payout, payout.inDoubtSince, found);
    case 'unknown':
      return stayInDoubt(deps, payout, found.reason);
  }
}

async function refuse(deps: Deps, { id }: Payout, failureReason: string): Promise<PayoutState> {
  const refused = await applyTransition(deps, id, {
    trigger: 'refuse',
    change: { failureReason, inDoubtSince: null, attentionLevel: 0 },
    posting: returnPosting,
  });
  return report(deps, refused.payout);
}

async function stayInDoubt(deps: Deps, payout: Payout, reason: string): Promise<PayoutState> {
  const why = `It is not known whether the provider has the payout: ${reason} The provider is asked again until it answers.`;
  const since = payout.inDoubtSince ?? (await databaseTime(deps.db));
  return waitForProvider(deps, payout, since, why, nextAttemptMs);
}

/** The order as the provider has it, or had it. */
export function orderOf(payout: Payout, beneficiary: Beneficiary | null): PayoutOrder {
  return {
    reference: payout.id,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    destination: {
      type: payout.destinationType,
      value: payout.destinationValue,
      memo: payout.destinationMemo,
    },
    beneficiary,
  };
}

/** Checks a payout that the provider has accepted. A callback is only a reason to check. */
export async function checkPayout(deps: Deps, payoutId: string): Promise<PayoutState> {
  const payout = await getPayout(deps.db, payoutId);
  if (payout.status !== 'processing') return reportDone(deps, payout);
  const provider = providerOf(deps, payout);
  const found = await deps.localCalls.run(payout, () =>
    provider.findPayout(payout.id, payout.network),
  );
  if (found.kind === 'found') return recordTransfer(deps, payout, found.transfer);
  if (found.kind === 'limited') return waitForLimit(deps, payout, payout.processingSince, found);
  const since = payout.processingSince ?? payout.updatedAt;
  if (found.kind === 'unknown') {
    const why = `Waiting for the provider to answer: ${found.reason}`;
    return waitForProvider(deps, payout, since, why, nextAttemptMs);
  }
  const why = 'Waiting for the provider to find the transfer that it accepted.';
  return waitForProvider(deps, payout, since, why);
}

/** Applies every transition that the answer allows: approved → processing → completed or failed. */
async function recordTransfer(
  deps: Deps,
  payout: Payout,
  transfer: ProviderTransfer,
): Promise<PayoutState> {
  if (transfer.amount !== payout.amount || transfer.currency !== payout.currency) {
    return refuseMismatch(deps, payout, transfer);
  }
  const accepted = payout.status === 'approved' ? await accept(deps, payout, transfer) : payout;
  const ended = await end(deps, accepted, transfer);
  return ended.status === 'processing'
    ? waitForProvider(deps, ended, ended.processingSince ?? ended.updatedAt, WAITING_FOR_TRANSFER)
    : report(deps, ended);
}

const WAITING_FOR_TRANSFER = 'Waiting for the provider to complete the transfer.';

async function accept(deps: Deps, payout: Payout, transfer: ProviderTransfer): Promise<Payout> {
  const { payout: accepted } = await applyTransition(deps, payout.id, {
    trigger: 'accept',
    change: {
      providerTransferId: transfer.providerId,
      processingSince: await databaseTime(deps.db),
      inDoubtSince: null,
      attentionLevel: 0,
    },
  });
  return accepted;
}

async function end(deps: Deps, payout: Payout, transfer: ProviderTransfer): Promise<Payout> {
  const transition = finalTransition(transfer);
  if (transition === null || payout.status !== 'processing') return payout;
  return (await applyTransition(deps, payout.id, transition)).payout;
}

function finalTransition({ status, txHash, failureReason }: ProviderTransfer): Transition | null {
  switch (status) {
    case 'pending':
      return null;
    case 'sent':
      return {
        trigger: 'complete',
        change: { txHash, inDoubtSince: null, attentionLevel: 0 },
        posting: settlementPosting,
      };
    case 'failed':
      return {
        trigger: 'fail',
        change: {
          failureReason: failureReason ?? 'The provider could not send the payout.',
          inDoubtSince: null,
          attentionLevel: 0,
        },
        posting: returnPosting,
      };
  }
}

/**
 * Fails when the provider has another transfer under our reference: its answer must not move money.
 */
async function refuseMismatch(
  deps: Deps,
  payout: Payout,
  { amount, currency, status, providerId }: ProviderTransfer,
): Promise<PayoutState> {
  await openCase(deps.db, 'transfer_mismatch', payout.id, {
    ours: { amount: payout.amount, currency: payout.currency },
    theirs: { amount, currency, status, id: providerId },
  });
  const why = 'Waiting for an operator: the provider has a different amount or currency on record.';
  return waitForProvider(deps, payout, new Date(0), why);
}

/**
 * Records that the provider took nothing. That says nothing about earlier calls: what was in doubt
 * remains so, and nothing else becomes so.
 * @param since the time since which the payout has waited for its provider; null if it has not waited
 */
async function waitForLimit(
  deps: Deps,
  payout: Payout,
  since: Date | null,
  { reason, retryAfterMs }: Limited,
): Promise<PayoutState> {
  const why = `${reason} It asked to wait ${Math.ceil(retryAfterMs / 1_000)} s.`;
  const wait = { ms: retryAfterMs, why, retryAfterMs };
  if (since === null) return report(deps, payout, wait);
  const state = await waitForProvider(deps, payout, since, why);
  return { ...state, wait: { ...wait, why: state.wait?.why ?? why } };
}

/**
 * Records that the payout has waited for its provider since `since`, and raises the attention level
 * when that takes too long.
 */
async function waitForProvider(
  deps: Deps,
  payout: Payout,
  since: Date,
  why: string,
  nextMs = nextCheckMs,
): Promise<PayoutState> {
  const now = await databaseTime(deps.db);
  const waitedMs = now.getTime() - since.getTime();
  const level = Math.max(attentionLevel(waitedMs), payout.attentionLevel);
  const inDoubt = payout.status === 'approved' && payout.inDoubtSince === null;
  const noted =
    inDoubt || level !== payout.attentionLevel
      ? await noteOnPayout(deps.db, payout.id, payout.status, {
          attentionLevel: level,
          ...(inDoubt ? { inDoubtSince: now } : {}),
        })
      : payout;
  const current = noted ?? (await getPayout(deps.db, payout.id));
  return reportPayout(current, now, { ms: nextMs(waitedMs), why: why + escalation(level) });
}

function escalation(level: number): string {
  const threshold = ESCALATION_AFTER_MS[level - 1];
  return threshold === undefined ? '' : ` This has taken more than ${threshold / 60_000} minutes.`;
}
