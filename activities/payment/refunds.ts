/**
 * Postings of refunds (decisions/payments#refunds). A refund that a merchant or an operator orders is
 * deducted from the balance before the provider is asked, and returned if the provider refuses. A refund
 * that the provider made on its own is deducted when it is found; if the balance does not cover it, it is
 * deducted later.
 */
import { lockOpenCase, openCase, resolveOpenCase, undecidedFacts } from '../../src/db/cases/cases';
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import { post } from '../../src/db/ledger/ledger';
import { endDecision, findLastDecision } from '../../src/db/payments/payment-decisions';
import {
  changeRefund,
  insertRefund,
  listRefunds,
  type NewRefund,
} from '../../src/db/payments/payment-refunds';
import {
  changePayment,
  lockPayment,
  type PaymentChange,
  takePaymentStep,
} from '../../src/db/payments/payments';
import type { Db, Tx } from '../../src/db/transaction';
import {
  type Posting,
  refundFeePosting,
  type RefundMoney,
  refundPosting,
  refundReturnPosting,
} from '../../src/domain/ledger';
import { type Amount, add, isLess, subtract, ZERO } from '../../src/domain/money';
import { nextPaymentStatus, type Payment } from '../../src/domain/payment';
import { priceReturn, priceReversal, type Reversal } from '../../src/domain/payment-pricing';
import {
  type CheckoutFacts,
  hasToWait,
  hasUnknownRefund,
  isAllRefunded,
  nextRefundStep,
} from '../../src/domain/payment-step';
import { isWaiting, type Refund } from '../../src/domain/refund';
import { newId } from '../../src/platform/lib/new-id';
import { eventOfPayment, eventOfRefund } from '../events';

/**
 * A payment has at most one open case of this kind. Resolving it waives the refunds that it shows, and
 * no others.
 */
const NOT_COVERED = 'refund_not_covered';

const MADE_BY_PROVIDER = 'The provider has refunded the payment by itself meanwhile.';
const ANOTHER_AMOUNT = 'The provider refunded a different amount.';

/** Rolls the transaction back: the balance does not cover the refund. */
class ShortOfFunds extends Error {
  constructor(
    readonly available: Amount,
    readonly needed: Amount,
  ) {
    super(`only ${available} is available`);
  }
}

/** `short`: the balance does not cover the refund, and the transaction was rolled back. */
export type Covered<T> =
  { kind: 'covered'; result: T } | { kind: 'short'; available: Amount; needed: Amount };

/** @param transaction one in which refunds are deducted */
export async function ifCovered<T>(transaction: Promise<T>): Promise<Covered<T>> {
  try {
    return { kind: 'covered', result: await transaction };
  } catch (error) {
    if (!(error instanceof ShortOfFunds)) throw error;
    return { kind: 'short', available: error.available, needed: error.needed };
  }
}

/** The gateway's reference of an operator's refund, by which the provider is idempotent. */
export function refundReference(paymentId: string, decisionNumber: number): string {
  return `${paymentId}-${decisionNumber}`;
}

/** Who asks for a refund, and what the provider is to know it by. */
export type RefundOrder = Omit<NewRefund, 'providerRefundId' | 'taken' | 'fee' | 'state'>;

/**
 * Deducts an ordered refund from the balance, in a transaction for `ifCovered`.
 * @param beforePosting the statements that have to precede the posting
 * @returns null, and nothing is written, when the merchant's reference is already used
 */
export async function takeOrderedRefund(
  tx: EventTx,
  payment: Payment,
  order: RefundOrder,
  beforePosting: (refund: Refund) => Promise<void> = () => Promise.resolve(),
): Promise<Refund | null> {
  const { reversed, ...price } = priceReversal(payment, order.amount);
  const refund = await insertRefund(tx, payment.id, {
    ...order,
    ...price,
    providerRefundId: null,
    state: 'ordered',
  });
  if (refund === null) return null;
  await changePayment(tx, payment.id, reversing(payment, { reversed, ...price }));
  appendEvent(tx, eventOfRefund(refund));
  await beforePosting(refund);
  await postOrThrow(tx, payment, refundPosting(payment, refund), refund.taken);
  return refund;
}

/**
 * Records the provider's next refund, in a transaction for `ifCovered`. The caller holds the payment's
 * lock.
 * @param available the available amount, when it does not cover the refund: the refund is owed then
 * @returns the payment after it; null when all refunds are recorded or have to wait
 */
export async function recordRefund(
  tx: EventTx,
  payment: Payment,
  facts: CheckoutFacts,
  available: Amount | null,
): Promise<Payment | null> {
  if (facts.refunds.length === 0) return null;
  const known = await listRefunds(tx, payment.id);
  const step = nextRefundStep(payment, facts, known);
  if (step === null) {
    // The customer has the money already, so what waits for a person or an address gives way.
    const waiting = known.find(isWaiting);
    if (waiting === undefined || !hasUnknownRefund(payment, facts, known)) return null;
    return giveBackRefund(tx, payment, waiting, MADE_BY_PROVIDER);
  }
  const ordered = known.find(({ reference }) => reference === step.refund.reference);
  if (step.kind === 'take_back') {
    return takeBack(tx, payment, step.refund, available);
  }
  if (ordered === undefined) throw new Error(`the refund ${step.refund.reference} was not ordered`);
  if (step.kind === 'give_back') {
    return giveBackRefund(tx, payment, ordered, ANOTHER_AMOUNT);
  }
  return confirmRefund(tx, payment, { ...ordered, providerRefundId: step.refund.id });
}

/** The customer has the money. */
export async function confirmRefund(
  tx: EventTx,
  payment: Payment,
  refund: Refund,
): Promise<Payment> {
  const done = await changeRefund(tx, { ...refund, state: 'done' });
  appendEvent(tx, eventOfRefund(done));
  await endRefundDecision(tx, payment.id, refund.reference, null);
  const marks = refund.requestedBy === 'operator' ? (['manual'] as const) : [];
  const exceptions = [...new Set([...payment.exceptions, ...marks])];
  return noteRefunded(tx, payment, refund.amount, { exceptions });
}

async function takeBack(
  tx: EventTx,
  payment: Payment,
  { id, amount }: CheckoutFacts['refunds'][number],
  available: Amount | null,
): Promise<Payment> {
  const { reversed, taken, fee } = priceReversal(payment, amount);
  const found = {
    id: newId('refund'),
    reference: id,
    providerRefundId: id,
    amount,
    requestedBy: 'provider',
  } as const;
  const insert = async (money: Pick<Refund, 'taken' | 'fee' | 'state'>): Promise<void> => {
    const refund = await insertRefund(tx, payment.id, { ...found, ...money });
    if (refund !== null) appendEvent(tx, eventOfRefund(refund));
  };
  if (available !== null) {
    await insert({ taken: ZERO, fee: ZERO, state: 'owed' });
    const details = { refund: id, amount, needed: taken, available };
    await openCase(tx, NOT_COVERED, payment.id, details);
    return noteRefunded(tx, payment, amount, {});
  }
  await insert({ taken, fee, state: 'done' });
  await noteExcess(tx, payment.id, { refund: id, amount }, reversed);
  const change = reversing(payment, { reversed, taken, fee });
  const after = await noteRefunded(tx, payment, amount, change);
  if (reversed !== ZERO) {
    await postOrThrow(tx, payment, refundPosting(payment, { reference: id, taken, fee }), taken);
  }
  return after;
}

/**
 * Opens a case for the part of a refund that is more than the credits had left, as after a chargeback of a
 * payment that was refunded before: nobody has paid for it.
 */
async function noteExcess(
  tx: Tx,
  paymentId: string,
  { refund, amount }: { refund: string; amount: Amount },
  reversed: Amount,
): Promise<void> {
  if (!isLess(reversed, amount)) return;
  const details = { refund, amount, not_covered: subtract(amount, reversed) };
  await openCase(tx, 'refund_exceeds_credit', paymentId, details);
}

/**
 * The payment becomes `refunded` once everything credited is refunded; until then only amounts
 * change.
 */
async function noteRefunded(
  tx: EventTx,
  payment: Payment,
  amount: Amount,
  others: PaymentChange,
): Promise<Payment> {
  const refundedAmount = add(payment.refundedAmount, amount);
  const change = { ...others, refundedAmount };
  const isStep =
    isAllRefunded(payment, refundedAmount) &&
    nextPaymentStatus(payment.status, 'refund') !== undefined;
  if (!isStep) return changePayment(tx, payment.id, change);
  const after = await takePaymentStep(tx, payment, 'refund', change);
  appendEvent(tx, eventOfPayment(after, payment.status));
  return after;
}

/** The refund was refused: the deducted amount is returned. */
export async function giveBackRefund(
  tx: EventTx,
  payment: Payment,
  refund: Refund,
  refusal: string,
): Promise<Payment> {
  const { after, returned } = await refuseRefund(tx, payment, refund, refusal);
  await postOrThrow(tx, payment, refundReturnPosting(payment, returned), ZERO);
  return after;
}

/**
 * The payout of the refund returns the money itself, and the fee is charged again.
 * @returns that posting, which follows the payout's; null if there is no fee
 */
export async function returnRefund(
  tx: EventTx,
  payment: Payment,
  refund: Refund,
  refusal: string,
): Promise<Posting | null> {
  const { returned } = await refuseRefund(tx, payment, refund, refusal);
  return returned.fee === ZERO ? null : refundFeePosting(payment, returned);
}

async function refuseRefund(
  tx: EventTx,
  payment: Payment,
  refund: Refund,
  refusal: string,
): Promise<{ after: Payment; returned: RefundMoney }> {
  const { reversed, taken, fee } = priceReturn(payment, add(refund.taken, refund.fee));
  const refused = await changeRefund(tx, { ...refund, state: 'refused', refusal });
  appendEvent(tx, eventOfRefund(refused));
  await endRefundDecision(tx, payment.id, refund.reference, refusal);
  const after = await changePayment(tx, payment.id, {
    reversedAmount: subtract(payment.reversedAmount, reversed),
    reversedFee: subtract(payment.reversedFee, fee),
  });
  return { after, returned: { reference: refund.reference, taken, fee } };
}

async function endRefundDecision(
  tx: Tx,
  paymentId: string,
  reference: string,
  refusal: string | null,
): Promise<void> {
  const decision = await findLastDecision(tx, paymentId);
  if (decision === null || refundReference(paymentId, decision.number) !== reference) return;
  await endDecision(tx, paymentId, decision.id, refusal);
}

/**
 * Deducts owed refunds if the balance covers them, or waives those that an operator saw in a case and
 * resolved.
 * @returns whether anything is still owed
 */
export async function collectOwed(db: Db, paymentId: string): Promise<boolean> {
  const owed = (await listRefunds(db, paymentId)).filter(({ state }) => state === 'owed');
  for (const { reference } of owed) {
    const collected = await ifCovered(db.transaction((tx) => collect(tx, paymentId, reference)));
    if (collected.kind === 'short' || !collected.result) return true;
  }
  return false;
}

/** @returns whether the refund is no longer owed */
async function collect(tx: Tx, paymentId: string, reference: string): Promise<boolean> {
  const payment = await lockPayment(tx, paymentId);
  const known = await listRefunds(tx, paymentId);
  const owed = known.filter(({ state }) => state === 'owed');
  const refund = owed.find((one) => one.reference === reference);
  if (refund === undefined) return true;
  // The lock keeps an operator from resolving the case meanwhile.
  await lockOpenCase(tx, NOT_COVERED, paymentId);
  const fact = { refund: reference, amount: refund.amount };
  if ((await undecidedFacts(tx, NOT_COVERED, paymentId, [fact])).length === 0) {
    await changeRefund(tx, { ...refund, state: 'waived' });
    return true;
  }
  await openCase(tx, NOT_COVERED, paymentId, fact);
  if (hasToWait(payment, refund.amount, known)) return false;
  const { reversed, taken, fee } = priceReversal(payment, refund.amount);
  await changeRefund(tx, { ...refund, taken, fee, state: 'done' });
  await noteExcess(tx, paymentId, fact, reversed);
  await changePayment(tx, paymentId, reversing(payment, { reversed, taken, fee }));
  if (owed.length === 1) {
    await resolveOpenCase(tx, NOT_COVERED, paymentId, 'The balance covered the refund later.');
  }
  if (reversed !== ZERO) {
    await postOrThrow(tx, payment, refundPosting(payment, { reference, taken, fee }), taken);
  }
  return true;
}

function reversing(payment: Payment, { reversed, fee }: Reversal): PaymentChange {
  return {
    reversedAmount: add(payment.reversedAmount, reversed),
    reversedFee: add(payment.reversedFee, fee),
  };
}

/**
 * Must be the last statement of its transaction, because from here to COMMIT the balance is locked.
 */
async function postOrThrow(
  tx: Tx,
  payment: Payment,
  posting: Posting,
  needed: Amount,
): Promise<void> {
  const { outcome, available } = await post(tx, payment, posting);
  if (outcome === 'insufficient') throw new ShortOfFunds(available, needed);
  // The refund's row allows this posting once, so anything but a first posting is a broken ledger.
  if (outcome !== 'posted') throw new Error(`${posting.operationKey}: ledger_post was ${outcome}`);
}
