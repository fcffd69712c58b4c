/**
 * Turns a refund whose address is known into a payout: one transaction that makes the refund's money available
 * again and reserves it for the payout, under the rules of every payout (decisions/payments#refunds-to-address). When the
 * payout ends, its transaction ends the refund. Safe to run twice: a refund has one payout.
 */
import { destinationFault } from '../../src/adapters/destinations';
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import { post } from '../../src/db/ledger/ledger';
import {
  findRefundOfPayout,
  handToPayout,
  listRefunds,
} from '../../src/db/payments/payment-refunds';
import { lockPayment } from '../../src/db/payments/payments';
import { insertConditions } from '../../src/db/payouts/payout-conditions';
import { lockUsage, readPayoutFacts } from '../../src/db/payouts/payout-facts';
import { insertSinglePayout } from '../../src/db/payouts/payouts';
import { findNamedDestination, findRequesterFault } from '../../src/db/payments/refund-links';
import { findPersonOf } from '../../src/db/approvals/second-person';
import type { Tx } from '../../src/db/transaction';
import type { Destination } from '../../src/domain/destination';
import type { Refusal } from '../../src/domain/errors';
import { isId } from '../../src/domain/ids';
import { type Posting, refundToPayoutPosting, reservePosting } from '../../src/domain/ledger';
import { ZERO } from '../../src/domain/money';
import type { Payment } from '../../src/domain/payment';
import { isFinalPayout, type Payout } from '../../src/domain/payout';
import { awaitsAddress, type Refund } from '../../src/domain/refund';
import { payoutTermsOnCredit } from '../../src/domain/terms';
import { newId } from '../../src/platform/lib/new-id';
import type { ReserveOutcome } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayout } from '../events';
import { buildPayout } from '../payout/build';
import { wakePayouts } from '../payout/wake';
import { Refused } from '../refused';
import { confirmRefund, returnRefund } from './refunds';

/** The platform takes no fee for sending a customer's money back, and pays the network itself. */
const NO_FEE = { percentage: '0', fixedAmount: ZERO, minFee: null, maxFee: null };

/** @returns `abandoned`: nothing was named, or the refund has ended */
export async function payRefund(
  deps: Pick<Deps, 'db' | 'webhookDeliveryStarter' | 'payoutWorkflows'>,
  paymentId: string,
  refundId: string,
): Promise<ReserveOutcome> {
  const payoutId = newId('payout');
  try {
    const paid = await inEventTransaction(deps, payoutId, (tx) =>
      reserve(tx, { paymentId, refundId, payoutId }),
    );
    if (paid === null) return { kind: 'abandoned' };
    await wakePayouts(deps, [paid]);
    return { kind: 'reserved' };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { kind: 'refused', refusal: error.refusal };
  }
}

interface Order {
  paymentId: string;
  refundId: string;
  payoutId: string;
}

/** @returns the id of the refund's payout */
async function reserve(
  tx: EventTx,
  { paymentId, refundId, payoutId }: Order,
): Promise<string | null> {
  const payment = await lockPayment(tx, paymentId);
  const refund = (await listRefunds(tx, paymentId)).find(({ id }) => id === refundId);
  if (refund === undefined || refund.state === 'refused') return null;
  if (!awaitsAddress(refund)) return refund.payoutId;
  const destination = refund.destination ?? (await findNamedDestination(tx, refundId));
  if (destination === null) return null;
  const fault = await findRequesterFault(tx, refund);
  if (fault !== null) throw new Refused(fault);
  const payout = await price(tx, payment, refund, { payoutId, destination });
  await insertSinglePayout(tx, payout);
  insertConditions(tx, [payout]);
  appendEvent(tx, eventOfPayout(payout));
  for (const posting of [refundToPayoutPosting(payment, refund), reservePosting(payout)]) {
    const { outcome } = await post(tx, payout, posting);
    // The money of the refund covers the payout, and each is posted once.
    if (outcome !== 'posted')
      throw new Error(`${posting.operationKey}: ledger_post was ${outcome}`);
  }
  return payout.id;
}

/** The rules of every payout, for the one who asked for the refund. */
async function price(
  tx: Tx,
  { mode, provider, network }: Payment,
  refund: Refund,
  { payoutId, destination }: { payoutId: string; destination: Destination },
): Promise<Payout> {
  const { id, accountId, amount, currency, requestedBy } = refund;
  const apiKeyId = refund.apiKeyId ?? refund.operator ?? 'operator';
  lockUsage(tx, { accountId, mode, currency, apiKeyId });
  await handToPayout(tx, id, payoutId, destination);
  const request = {
    ...{ amount, currency, destination, network },
    reference: id,
    provider: null,
    description: `Refund of ${refund.paymentId}`,
    metadata: {},
  };
  const wrong = destinationFault(network, destination.value);
  if (wrong !== null) throw new Refused(wrongAddress(wrong));
  const byOperator = requestedBy === 'operator';
  const wanted = { accountId, mode, apiKeyId, provider, network, request, byOperator };
  const facts = { ...(await readPayoutFacts(tx, wanted)), feeTerms: NO_FEE };
  const outcome = payoutTermsOnCredit(mode, request, ZERO, facts);
  if ('refusal' in outcome) throw new Refused(outcome.refusal);
  const { needsSecondPerson } = outcome.terms;
  const maker = needsSecondPerson ? await findPersonOf(tx, apiKeyId) : null;
  const who = { payoutId, accountId, mode, apiKeyId, maker };
  const order = { ...who, request, networkFee: ZERO, now: facts.now };
  return buildPayout({ ...order, route: { provider, network } }, outcome.terms);
}

function wrongAddress(message: string): Refusal {
  const fields = [{ field: 'destination.value', rule: 'format' as const, message }];
  return { code: 'validation_failed', details: { fields } };
}

/**
 * Ends the refund of a payout that has ended, in the payout's transaction.
 * @returns what is posted after the payout's own posting
 */
export async function endRefundOf(
  tx: EventTx,
  { id, reference, status, failureReason }: Payout,
): Promise<Posting | null> {
  // Its payout has the refund's id as its reference; a merchant may have used that for another payout.
  const refund = isId('refund', reference) ? await findRefundOfPayout(tx, id) : null;
  if (refund === null) return null;
  const payment = await lockPayment(tx, refund.paymentId);
  if (status === 'completed') {
    await confirmRefund(tx, payment, refund);
    return null;
  }
  if (!isFinalPayout(status)) return null;
  const ended = status === 'failed' ? 'failed' : `was ${status}`;
  const reason = failureReason === null ? '' : ` ${failureReason}`;
  const why = `The payout that sends the refund ${ended}.${reason}`;
  return returnRefund(tx, payment, refund, why);
}
