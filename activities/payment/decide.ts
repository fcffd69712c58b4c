/**
 * Records an operator's decision about a payment. Valid decisions become pending, and carry-out.ts
 * carries them out at the provider. A refund is deducted from the balance here, so that the money
 * cannot be spent before the provider has sent it back (decisions/refunds).
 */
import {
  countDecisions,
  findDecision,
  findLastDecision,
  insertDecision,
  type StoredDecision,
} from '../../src/db/repositories/payment-decisions';
import { findPayment, lockPayment } from '../../src/db/repositories/payments';
import { databaseTime } from '../../src/db/database-time';
import { inTransaction, type Tx } from '../../src/db/transaction';
import { DECISION_VALID_MS } from '../../src/domain/decision-age';
import { type Amount, isLess, parseRequestAmount, ZERO } from '../../src/domain/money';
import { DECIDABLE, type Payment } from '../../src/domain/payment';
import { priceReversal, refundableOf } from '../../src/domain/payment-pricing';
import type { PaymentDecision } from '../../workflows/messages';
import { type Deps, providerOf } from '../deps';
import { ifCovered, refundReference, takeOrderedRefund } from './refunds';

/** Safe to run twice: a decision's id is recorded once. @returns why it was refused, or null */
export async function decidePayment(
  deps: Pick<Deps, 'db' | 'providers'>,
  paymentId: string,
  decision: PaymentDecision,
): Promise<{ refusal: string | null }> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) return { refusal: 'the payment does not exist' };
  const canRefund = providerOf(deps, payment).capabilities.refunds;
  const decided = await ifCovered(
    inTransaction(deps.db, (tx) => decide(tx, paymentId, decision, canRefund, null)),
  );
  if (decided.kind === 'covered') return decided.result;
  const { available } = decided;
  return inTransaction(deps.db, (tx) => decide(tx, paymentId, decision, canRefund, available));
}

/** @param available the available amount, when it does not cover the refund, which is refused then */
async function decide(
  tx: Tx,
  paymentId: string,
  decision: PaymentDecision,
  canRefund: boolean,
  available: Amount | null,
): Promise<{ refusal: string | null }> {
  const payment = await lockPayment(tx, paymentId);
  const known = await findDecision(tx, paymentId, decision.id);
  if (known !== null) return { refusal: known.refusal };
  const last = await findLastDecision(tx, paymentId);
  const amount = amountOf(payment, decision);
  const refusal =
    (await lateRefusal(tx, decision)) ??
    refusalOf(payment, decision, last) ??
    (decision.kind === 'refund' ? refundRefusal(payment, amount, canRefund, available) : null);
  const number = (await countDecisions(tx, paymentId)) + 1;
  await insertDecision(tx, paymentId, {
    id: decision.id,
    number,
    kind: decision.kind,
    amount: amount === ZERO ? null : amount,
    decidedBy: decision.by,
    reason: decision.reason,
    state: refusal === null ? 'pending' : 'refused',
    refusal,
  });
  if (refusal === null && decision.kind === 'refund' && amount !== null) {
    const reference = refundReference(paymentId, number);
    await takeOrderedRefund(tx, payment, { reference, amount });
  }
  return { refusal };
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
function amountOf(payment: Payment, { kind, amount }: PaymentDecision): Amount | null {
  if (kind !== 'refund') return null;
  return amount === null ? refundableOf(payment) : parseRequestAmount(amount);
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
  canRefund: boolean,
  available: Amount | null,
): string | null {
  const { currency, provider } = payment;
  const refundable = refundableOf(payment);
  if (!canRefund) return `${provider} does not support refunds: refund the customer in another way`;
  if (amount === null) return 'the amount must be greater than zero';
  if (refundable === ZERO) return 'nothing is left to refund';
  if (isLess(refundable, amount)) {
    return `${amount} ${currency} exceeds the refundable amount of ${refundable} ${currency}`;
  }
  if (available === null) return null;
  const { taken } = priceReversal(payment, amount);
  return `the refund needs ${taken} ${currency}, and the merchant has ${available} ${currency} available`;
}
