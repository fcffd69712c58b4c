/**
 * Reserves the money of a refund that a merchant asked for: one transaction that checks the payment
 * under its lock, writes the refund, its event and the stored response, and posts last. The workflow
 * then asks the provider. Safe to run twice: an existing refund is kept.
 */
import type { EventTx } from '../../src/db/webhooks/events';
import { lockClaim, releaseClaim, storeResponse } from '../../src/db/idempotency';
import {
  findRefund,
  findRefundByReference,
  listRefunds,
} from '../../src/db/payments/payment-refunds';
import { findPayment, lockPayment } from '../../src/db/payments/payments';
import { lockUsage, readAccountRules, readKeyFacts } from '../../src/db/payouts/payout-facts';
import { mailLink } from '../../src/db/payments/refund-links';
import { readAlone } from '../../src/db/approvals/second-person';
import { databaseTime } from '../../src/db/database-time';
import { MissingRow } from '../../src/db/transaction';
import {
  ADDRESS_WAIT_MS,
  awaitsAddress,
  needsAddress,
  type RefundAbility,
  type RefundRequest,
  refundTerms,
} from '../../src/domain/refund';
import { needsSecondPerson, secondPersonUntil } from '../../src/domain/second-person';
import {
  duplicateReference,
  insufficientBalance,
  refundOutsideOfRules,
} from '../../src/domain/terms';
import { presentCreated } from '../../src/kit/service/envelope';
import { presentRefund } from '../../src/features/payments/refunds-contract';
import type { ReserveOutcome } from '../../workflows/messages';
import { type Deps, inEventTransaction, providerOf } from '../deps';
import { Refused } from '../refused';
import { ifCovered, takeOrderedRefund } from './refunds';

export async function reserveRefund(
  deps: Deps,
  paymentId: string,
  refundId: string,
): Promise<ReserveOutcome> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) throw new MissingRow(paymentId);
  const { name, capabilities } = providerOf(deps, payment);
  const ability = {
    name,
    refunds: capabilities.refunds,
    destinationTypes: capabilities.refund_destination_types,
  };
  try {
    const reserved = await ifCovered(
      inEventTransaction(deps, refundId, (tx) => reserve(tx, { paymentId, refundId, ability })),
    );
    if (reserved.kind === 'covered') return reserved.result;
    await releaseClaim(deps.db, refundId);
    const { available, needed } = reserved;
    return { kind: 'refused', refusal: insufficientBalance(payment.currency, available, needed) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await releaseClaim(deps.db, refundId);
    return { kind: 'refused', refusal: error.refusal };
  }
}

interface Order {
  paymentId: string;
  refundId: string;
  ability: RefundAbility;
}

async function reserve(
  tx: EventTx,
  { paymentId, refundId, ability }: Order,
): Promise<ReserveOutcome> {
  const claim = await lockClaim<RefundRequest, object>(tx, refundId);
  if (claim === null) {
    if ((await findRefund(tx, refundId)) !== null) return { kind: 'reserved' };
    await releaseClaim(tx, refundId);
    return { kind: 'abandoned' };
  }
  const { request, accountId, mode, apiKeyId } = claim;
  // A person who may start workflows must not refund another payment with the claim.
  if (request.paymentId !== paymentId) throw new Error(`${refundId} is of another payment`);
  const payment = await lockPayment(tx, paymentId);
  lockUsage(tx, { ...claim, currency: payment.currency });
  const key = await readKeyFacts(tx, claim, payment.currency);
  const terms = refundTerms(payment, await listRefunds(tx, paymentId), request, ability);
  if ('refusal' in terms) throw new Refused(terms.refusal);
  const account = await readAccountRules(tx, claim, payment.currency);
  const toAddress = needsAddress(ability);
  const asked = { amount: terms.amount, toAddress };
  const outside = refundOutsideOfRules({ account, key }, payment, asked);
  if (outside !== null) throw new Refused(outside);
  const { currency } = payment;
  const now = await databaseTime(tx);
  // Where an address is missing, another person approves the payout, and sees where it goes.
  const alone = toAddress ? null : await readAlone(tx, { accountId, mode, apiKeyId }, currency);
  const waits = needsSecondPerson(alone?.remaining ?? null, terms.amount);
  const order = {
    id: refundId,
    reference: refundId,
    amount: terms.amount,
    requestedBy: 'merchant',
    apiKeyId,
    merchantReference: request.reference,
    reason: request.reason,
    destination: request.destination,
    secondPerson: waits ? (alone?.maker ?? null) : null,
    secondPersonUntil: waits ? secondPersonUntil(now) : null,
    addressUntil: toAddress ? new Date(now.getTime() + ADDRESS_WAIT_MS) : null,
  } as const;
  const refund = await takeOrderedRefund(tx, payment, order, async (created) => {
    if (awaitsAddress(created)) await mailLink(tx, created, payment.customerEmail);
    await storeResponse(tx, refundId, presentCreated(presentRefund(created)));
  });
  if (refund !== null) return { kind: 'reserved' };
  const existingId = await findRefundByReference(tx, {
    accountId,
    mode,
    reference: request.reference,
  });
  if (existingId === null)
    throw new Error(`${refundId} was refused, and no refund has its reference`);
  throw new Refused(duplicateReference('refund', existingId));
}
