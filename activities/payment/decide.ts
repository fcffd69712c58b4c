/**
 * Records an operator's decision about a payment. Valid decisions become pending, and carry-out.ts
 * carries them out at the provider. A refund is deducted from the balance here, so that the money
 * cannot be spent before the provider has sent it back (decisions/payments#refunds).
 */
import {
  countDecisions,
  findDecision,
  findLastDecision,
  insertDecision,
  type StoredDecision,
} from '../../src/db/payments/payment-decisions';
import { findPayment, lockPayment } from '../../src/db/payments/payments';
import { databaseTime } from '../../src/db/database-time';
import { listRefunds } from '../../src/db/payments/payment-refunds';
import { readAccountRules } from '../../src/db/payouts/payout-facts';
import { mailLink } from '../../src/db/payments/refund-links';
import type { EventTx } from '../../src/db/webhooks/events';
import type { Tx } from '../../src/db/transaction';
import { DECISION_VALID_MS } from '../../src/domain/decision-age';
import {
  type Amount,
  hasMoreDecimals,
  isLess,
  parseRequestAmount,
  ZERO,
} from '../../src/domain/money';
import { DECIDABLE, type Payment } from '../../src/domain/payment';
import { priceReversal } from '../../src/domain/payment-pricing';
import { ADDRESS_WAIT_MS, leftToRefund, needsAddress } from '../../src/domain/refund';
import { newId } from '../../src/platform/lib/new-id';
import type { PaymentDecision } from '../../workflows/messages';
import { type Deps, inEventTransaction, providerOf } from '../deps';
import { ifCovered, refundReference, takeOrderedRefund } from './refunds';

/** Safe to run twice: a decision's id is recorded once. @returns why it was refused, or null */
export async function decidePayment(
  deps: Pick<Deps, 'db' | 'providers' | 'webhookDeliveryStarter' | 'decimalsOf'>,
  paymentId: string,
  decision: PaymentDecision,
): Promise<{ refusal: string | null }> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) return { refusal: 'the payment does not exist' };
  const { refunds: canRefund, refund_destination_types: destinationTypes } = providerOf(
    deps,
    payment,
  ).capabilities;
  const toAddress = needsAddress({ destinationTypes });
  const decimals = decision.kind === 'refund' ? await deps.decimalsOf(payment) : null;
  const decideWith = (available: Amount | null) =>
    inEventTransaction(deps, paymentId, (tx) =>
      decide(tx, paymentId, decision, { canRefund, toAddress, decimals, available }),
    );
  const decided = await ifCovered(decideWith(null));
  return decided.kind === 'covered' ? decided.result : decideWith(decided.available);
}

interface RefundFacts {
  canRefund: boolean;
  /** The customer names an address, and a payout sends the money. */
  toAddress: boolean;
  /** How many the currency has there; null if not known. */
  decimals: number | null;
  /** The available amount, when it does not cover the refund, which is refused then. */
  available: Amount | null;
}

async function decide(
  tx: EventTx,
  paymentId: string,
  decision: PaymentDecision,
  facts: RefundFacts,
): Promise<{ refusal: string | null }> {
  const payment = await lockPayment(tx, paymentId);
  const known = await findDecision(tx, paymentId, decision.id);
  if (known !== null) return { refusal: known.refusal };
  const last = await findLastDecision(tx, paymentId);
  const isRefund = decision.kind === 'refund';
  const refundable = isRefund ? leftToRefund(payment, await listRefunds(tx, paymentId)) : ZERO;
  const amount = isRefund ? amountOf(decision, refundable) : null;
  const refusal =
    (await lateRefusal(tx, decision)) ??
    refusalOf(payment, decision, last) ??
    (isRefund ? refundRefusal(payment, amount, refundable, facts) : null) ??
    (isRefund && facts.toAddress ? await recipientsOnlyRefusal(tx, payment) : null);
  const number = (await countDecisions(tx, paymentId)) + 1;
  await insertDecision(tx, paymentId, {
    id: decision.id,
    number,
    kind: decision.kind,
    amount: amount === ZERO ? null : amount,
    requestedBy: decision.isMerchants === true ? 'merchant' : 'operator',
    decidedBy: decision.by,
    reason: decision.reason,
    // A refund that waits for an address is done with as a decision: nothing else has to wait for it.
    state: refusal !== null ? 'refused' : isRefund && facts.toAddress ? 'accepted' : 'pending',
    refusal,
  });
  if (refusal === null && isRefund && amount !== null) {
    const order = {
      id: newId('refund'),
      reference: refundReference(paymentId, number),
      amount,
      requestedBy: 'operator',
      operator: decision.by,
      reason: decision.reason,
      addressUntil: facts.toAddress
        ? new Date((await databaseTime(tx)).getTime() + ADDRESS_WAIT_MS)
        : null,
    } as const;
    await takeOrderedRefund(tx, payment, order, async (refund) => {
      if (facts.toAddress) await mailLink(tx, refund, payment.customerEmail);
    });
  }
  return { refusal };
}

/** An operator's refund to an address that a customer names is held to the account's rule too. */
async function recipientsOnlyRefusal(tx: Tx, payment: Payment): Promise<string | null> {
  const { recipientsOnly } = await readAccountRules(tx, payment, payment.currency);
  if (payment.mode === 'test' || !recipientsOnly) return null;
  return 'the account may pay saved recipients only: save the customer as a recipient and make a payout';
}

/**
 * The refusal of a decision that arrived too late. A signal that was typed by hand has no time, and
 * whoever typed it sees what it does.
 */
async function lateRefusal(tx: Tx, { sentAt }: PaymentDecision): Promise<string | null> {
  if (sentAt === undefined || sentAt === null) return null;
  const ageMs = (await databaseTime(tx)).getTime() - Date.parse(sentAt);
  if (ageMs <= DECISION_VALID_MS) return null;
  return `it arrived more than ${DECISION_VALID_MS / 60_000} minutes after it was sent, and had no effect. Decide again if it still applies`;
}

/** The amount of a refund, or null when the input is not a valid amount. */
function amountOf({ amount }: PaymentDecision, refundable: Amount): Amount | null {
  return amount === null ? refundable : parseRequestAmount(amount);
}

function refusalOf(
  payment: Payment,
  { kind }: PaymentDecision,
  last: StoredDecision | null,
): string | null {
  if (last?.state === 'pending') return `a \`${last.kind}\` is already in progress`;
  if (DECIDABLE[kind].includes(payment.status)) return null;
  return `the payment is ${payment.status}; it must be ${DECIDABLE[kind].join(' or ')}`;
}

function refundRefusal(
  payment: Payment,
  amount: Amount | null,
  refundable: Amount,
  { canRefund, decimals, available }: RefundFacts,
): string | null {
  const { currency, provider } = payment;
  if (!canRefund) return `${provider} does not support refunds: refund the customer in another way`;
  if (amount === null) return 'the amount must be greater than zero';
  if (refundable === ZERO) return 'nothing is left to refund';
  if (isLess(refundable, amount)) {
    return `${amount} ${currency} exceeds the refundable amount of ${refundable} ${currency}`;
  }
  if (decimals !== null && hasMoreDecimals(decimals, amount)) {
    return `${currency} has ${decimals} decimals there: refund an amount with at most ${decimals} decimals`;
  }
  if (available === null) return null;
  const { taken } = priceReversal(payment, amount);
  return `the refund needs ${taken} ${currency}, and the merchant has ${available} ${currency} available`;
}
