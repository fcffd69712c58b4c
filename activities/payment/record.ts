/**
 * Brings a provider's facts into a payment: at most one guarded step per transaction, until the
 * payment stands where the facts say (decision P7). Each transfer is credited once for ever.
 */
import { appendEvent } from '../../src/db/repositories/events';
import { post } from '../../src/db/repositories/ledger';
import {
  creditedTransfers,
  insertCredit,
  lockPayment,
  noteReceived,
  takePaymentStep,
} from '../../src/db/repositories/payments';
import { inTransaction, type Db, type Tx } from '../../src/db/transaction';
import { paymentEvent } from '../../src/domain/events';
import { serviceFee } from '../../src/domain/fees';
import { creditPosting } from '../../src/domain/ledger';
import { type Amount, add, subtract } from '../../src/domain/money';
import type { Payment } from '../../src/domain/payment';
import {
  type CheckoutFacts,
  nextPaymentStep,
  type PaymentStep,
  receivedAfter,
} from '../../src/domain/payment-news';
import { newId } from '../../src/lib/new-id';
import { presentEvent } from '../../src/presenters/event';
import { presentPayment } from '../../src/presenters/payment';

/** A payment has fewer states than this: more steps for the same facts would be a fault of ours. */
const MOST_STEPS = 10;

export async function recordCheckout(
  db: Db,
  paymentId: string,
  facts: CheckoutFacts,
  askedAt: Date,
): Promise<Payment> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const { payment, stepped } = await inTransaction(db, (tx) =>
      step(tx, paymentId, facts, askedAt),
    );
    if (!stepped) return payment;
  }
  throw new Error(`payment ${paymentId} does not come to rest`);
}

async function step(
  tx: Tx,
  paymentId: string,
  facts: CheckoutFacts,
  askedAt: Date,
): Promise<{ payment: Payment; stepped: boolean }> {
  const payment = await lockPayment(tx, paymentId);
  const credited = await creditedTransfers(tx, paymentId);
  const next = nextPaymentStep(payment, facts, credited, askedAt);
  if (next !== null) return { payment: await take(tx, payment, facts, next), stepped: true };
  const received = receivedAfter(payment, facts);
  if (received !== payment.receivedAmount) await noteReceived(tx, paymentId, received);
  return { payment: { ...payment, receivedAmount: received }, stepped: false };
}

interface Credit {
  id: string;
  amount: Amount;
  fee: Amount;
}

async function take(
  tx: Tx,
  payment: Payment,
  facts: CheckoutFacts,
  { trigger, credits, received, exceptions, txHash }: PaymentStep,
): Promise<Payment> {
  const priced = priceCredits(payment, credits);
  const after = await takePaymentStep(tx, payment, trigger, {
    receivedAmount: received,
    creditedAmount: add(payment.creditedAmount, ...priced.map(({ amount }) => amount)),
    serviceFee: add(payment.serviceFee, ...priced.map(({ fee }) => fee)),
    exceptions: [...new Set([...payment.exceptions, ...exceptions])],
    txHash: txHash ?? payment.txHash,
    ...(trigger === 'complete' && payment.completedAt === null ? { completedAt: new Date() } : {}),
    ...(trigger === 'fail' ? { failureReason: facts.failureReason ?? failureOf(facts) } : {}),
    ...(trigger === 'refund'
      ? { refundedAmount: add(...facts.refunds.map(({ amount }) => amount)) }
      : {}),
  });
  if (after.sequence !== payment.sequence) await emit(tx, after);
  for (const credit of priced) {
    await insertCredit(tx, { ...credit, paymentId: payment.id, transferId: credit.id });
  }
  // Postings last: from the first to COMMIT the balance is locked.
  for (const credit of priced) {
    const { outcome } = await post(tx, payment, creditPosting(payment, credit));
    if (outcome !== 'posted') throw new Error(`credit of ${credit.id}: ledger_post was ${outcome}`);
  }
  return after;
}

function failureOf({ state }: CheckoutFacts): string {
  return state === 'failed'
    ? 'The provider could not take the payment.'
    : 'What was sent was never confirmed.';
}

/** The fee is on the sum of what was received (decision M1): a transfer bears what it adds to it. */
function priceCredits(
  payment: Payment,
  transfers: readonly { id: string; amount: Amount }[],
): Credit[] {
  let total = payment.creditedAmount;
  let charged = payment.serviceFee;
  return transfers.map(({ id, amount }) => {
    total = add(total, amount);
    const fee = subtract(serviceFee('payin', total, payment.feeTerms), charged);
    charged = add(charged, fee);
    return { id, amount, fee };
  });
}

async function emit(tx: Tx, payment: Payment): Promise<void> {
  const event = {
    id: newId('event'),
    type: paymentEvent(payment.status),
    mode: payment.mode,
    sequence: payment.sequence,
    createdAt: payment.updatedAt,
  };
  const body = presentEvent(event, presentPayment(payment));
  await appendEvent(tx, { ...event, accountId: payment.accountId, objectId: payment.id, body });
}
