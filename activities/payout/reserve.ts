/**
 * Reserves the funds of a new payout: one transaction that checks every rule under a lock, writes
 * the payout, its event and the stored response, and posts to the ledger last. Safe to run twice:
 * an existing payout is kept.
 */
import type { EventTx } from '../../src/db/webhooks/events';
import { lockClaim, releaseClaim } from '../../src/db/idempotency';
import { post } from '../../src/db/ledger/ledger';
import { insertBeneficiaries } from '../../src/db/payouts/payout-beneficiaries';
import { findPayout, insertPayout } from '../../src/db/payouts/payouts';
import { insertConditions } from '../../src/db/payouts/payout-conditions';
import { type FactsQuery, lockUsage, readPayoutFacts } from '../../src/db/payouts/payout-facts';
import { findPersonOf } from '../../src/db/approvals/second-person';
import { holdRecipients } from '../../src/db/recipients/recipients';
import { sendRequesterFault } from '../../src/db/api-keys/requesters';
import type { Tx } from '../../src/db/transaction';
import type { Refusal } from '../../src/domain/errors';
import { reservePosting } from '../../src/domain/ledger';
import { isLess } from '../../src/domain/money';
import type { Payout, PayoutOrder } from '../../src/domain/payout';
import { addressed } from '../../src/domain/recipient';
import { duplicateReference, insufficientBalance, payoutTerms } from '../../src/domain/terms';
import { presentCreated } from '../../src/kit/service/envelope';
import { presentPayout } from '../../src/features/payouts/payouts-contract';
import type { PayoutInput, PayoutState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayout } from '../events';
import { Refused } from '../refused';
import { buildPayout, recipientFault } from './build';
import { type Known, reportReviewed } from './report';
import { isScreenedFirst } from './screen';

export type ReserveResult =
  | {
      kind: 'reserved';
      state: PayoutState;
      consolePage?: string;
      /** Its destination is screened before it is approved. */
      isScreenedFirst?: true;
      /** Its workflow sets no search attributes for a state that is about to end. */
      skipsBrief?: true;
    }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'abandoned' };

export async function reservePayout(deps: Deps, input: PayoutInput): Promise<ReserveResult> {
  try {
    const result = await inEventTransaction(deps, input.payoutId, (tx) => reserve(tx, input));
    if (result.kind !== 'reserved' || deps.consoleUrl === null) return result;
    return { ...result, consolePage: `${deps.consoleUrl}/payouts/${input.payoutId}` };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await releaseClaim(deps.db, input.payoutId);
    return { kind: 'refused', refusal: error.refusal };
  }
}

async function reserve(tx: EventTx, input: PayoutInput): Promise<ReserveResult> {
  const claim = await lockClaim<PayoutOrder>(tx, input.payoutId);
  if (claim === null) return withoutClaim(tx, input.payoutId);
  lockUsage(tx, { ...claim, currency: claim.request.currency });
  const { networkFee, recipientSince: _since, beneficiary, ...route } = claim.route;
  if (networkFee === null) throw new Error(`${input.payoutId} has no network fee`);
  const held = await holdRecipients(tx, claim, [claim.request]);
  const sent = addressed(claim.request, held, claim.route);
  if ('refusal' in sent) throw new Refused(sent.refusal);
  const { request } = sent;
  const unfit = recipientFault(request, route);
  if (unfit !== null) throw new Refused(unfit);
  const wanted = { ...claim, ...route, request };
  const fault = sendRequesterFault(tx, claim);
  const facts = await readPayoutFacts(tx, wanted);
  const requesterFault = await fault;
  if (requesterFault !== null) throw new Refused(requesterFault);
  const destinationUsedBefore = facts.destinationUsedBefore || sent.isKnownRecipient;
  const known = { ...facts, destinationUsedBefore };
  const result = payoutTerms(claim.mode, request, networkFee, known);
  if ('refusal' in result) throw new Refused(result.refusal);
  const { payoutId } = input;
  const maker = result.terms.needsSecondPerson ? await findPersonOf(tx, claim.apiKeyId) : null;
  const order = { ...claim, ...sent, payoutId, networkFee, beneficiary, maker, now: facts.now };
  const payout = buildPayout(order, result.terms);
  // All are sent together. If the reference is taken, the posting is rolled back.
  const inserted = insert(tx, payout);
  insertConditions(tx, [payout]);
  insertBeneficiaries(tx, [payout]);
  const [isInserted, { outcome, available }] = await Promise.all([
    inserted,
    post(tx, payout, reservePosting(payout)),
  ]);
  if (!isInserted) throw new Refused(await takenReference(tx, payout, wanted));
  if (outcome === 'insufficient') {
    throw new Refused(insufficientBalance(payout.currency, available, payout.totalDebit));
  }
  const { now, fourEyesThreshold: threshold } = facts;
  const isAbove = threshold !== null && isLess(threshold, payout.amount);
  return reserved(tx, payout, { now, fourEyes: isAbove ? { threshold, approvals: 0 } : null });
}

async function reserved(tx: Tx, payout: Payout, known: Known = {}): Promise<ReserveResult> {
  const isFirst = await isScreenedFirst(tx, payout);
  const state = await reportReviewed(tx, payout, known);
  const first = isFirst ? ({ isScreenedFirst: true } as const) : {};
  return { kind: 'reserved', state, skipsBrief: true, ...first };
}

/** The result without a claim: the payout exists already, or the claim ended without one. */
async function withoutClaim(tx: Tx, payoutId: string): Promise<ReserveResult> {
  const payout = await findPayout(tx, payoutId);
  // The batch of a row starts its workflow when it releases the row.
  if (payout?.awaitsBatch === true) return { kind: 'abandoned' };
  if (payout !== null) return reserved(tx, payout);
  await releaseClaim(tx, payoutId);
  return { kind: 'abandoned' };
}

/** The refusal when a payout with this reference was committed after the facts were read. */
async function takenReference(tx: Tx, payout: Payout, wanted: FactsQuery): Promise<Refusal> {
  const { existingId } = await readPayoutFacts(tx, wanted);
  if (existingId === null)
    throw new Error(`the reference of ${payout.id} is taken, but no payout has it`);
  return duplicateReference('payout', existingId);
}

function insert(tx: EventTx, payout: Payout): Promise<boolean> {
  const response = presentCreated(presentPayout(payout));
  return insertPayout(tx, payout, eventOfPayout(payout), response);
}
