/**
 * Asks the provider for a payment's checkout and records the answer. Every update uses this path.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { openCase, resolveCreditedMoney, undecidedFacts } from '../../src/db/cases/cases';
import { creditedTransfers, findPayment } from '../../src/db/payments/payments';
import { databaseTime } from '../../src/db/database-time';
import { MissingRow, type Db } from '../../src/db/transaction';
import type { Payment } from '../../src/domain/payment';
import { isOpenPayment } from '../../src/domain/payment';
import { type CheckoutFacts, isSentBack } from '../../src/domain/payment-step';
import type { Checkout } from '../../src/adapters/providers/port';
import type { PaymentState, Wait } from '../../workflows/messages';
import { type Deps, providerOf } from '../deps';
import { askProvider } from './carry-out';
import { closeNeedless } from './link';
import { recordCheckout } from './record';
import { reportPayment, WAITING_FOR_CUSTOMER, withPage } from './report';

const SETTLING_MS = 60_000;

const NOTHING_CAME: CheckoutFacts = {
  state: 'open',
  onHold: false,
  transfers: [],
  refunds: [],
  failureReason: null,
};

export async function checkPayment(deps: Deps, paymentId: string): Promise<PaymentState> {
  return withPage(deps, paymentId, await checkAtProvider(deps, paymentId));
}

async function checkAtProvider(deps: Deps, paymentId: string): Promise<PaymentState> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) throw new MissingRow(paymentId);
  const askedAt = await databaseTime(deps.db);
  const provider = providerOf(deps, payment);
  const found = await deps.localCalls.run(payment, () => askProvider(deps, provider, payment));
  if (found.kind === 'not_found' && isSettledIn(payment, askedAt)) {
    return withoutCheckout(deps, payment, askedAt);
  }
  if (found.kind !== 'found') {
    return reportPayment(deps.db, payment, 'Waiting for the provider to answer.', {
      askedAt,
      answered: false,
      ...(found.kind === 'limited' ? { limit: found } : {}),
    });
  }
  const { checkout } = found;
  if (!isFor(payment, checkout)) {
    const { amount, currency, providerId: id } = checkout;
    await openCase(deps.db, 'checkout_mismatch', paymentId, { amount, currency, id });
    const why = 'Waiting for an operator: the provider has a different amount or currency.';
    return reportPayment(deps.db, payment, why, { askedAt, isMismatch: true });
  }
  const after = await recordCheckout(deps, paymentId, checkout, askedAt);
  await noteUncredited(deps.db, after, checkout);
  await closeNeedless(deps, after);
  return reportPayment(deps.db, after, WAITING_FOR_CUSTOMER, {
    askedAt,
    isHeld: checkout.onHold,
  });
}

/** Whether the provider asks the customer for what the merchant wants. */
export function isFor({ amount, currency }: Payment, checkout: Checkout): boolean {
  return checkout.amount === amount && checkout.currency === currency;
}

/**
 * Polls the provider until something changes. Temporal retries the activity at the requested time;
 * a retry costs no workflow task and no history event, so ten thousand open payments are cheap.
 *
 * @param seen the state that the workflow already has
 * @returns the state, once it differs from `seen`
 * @throws ApplicationFailure of type `NothingNew`: Temporal calls again after its delay
 */
export async function watchPayment(
  deps: Deps,
  paymentId: string,
  seen: PaymentState,
): Promise<PaymentState> {
  // The workflow has just checked, so the first call only sets the time of the next one.
  if (activityInfo().attempt === 1 && seen.wait !== null) throw nothingNew(seen.wait);
  const state = await checkPayment(deps, paymentId);
  if (state.wait?.retryAfterMs !== undefined) throw nothingNew(state.wait);
  if (state.wait === null || isUpdate(seen, state)) return state;
  throw nothingNew(state.wait);
}

/** Whether the states differ in anything but the time of the next check. */
function isUpdate(seen: PaymentState, state: PaymentState): boolean {
  const shown = ({ wait, ...rest }: PaymentState) => JSON.stringify({ ...rest, why: wait?.why });
  return shown(seen) !== shown(state);
}

function nothingNew({ why, ms }: Wait): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NothingNew',
    message: `Nothing new. ${why}`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: ms,
  });
}

/** A provider may need a moment before its reads return a new checkout. */
function isSettledIn({ createdAt }: Payment, askedAt: Date): boolean {
  return askedAt.getTime() - createdAt.getTime() > SETTLING_MS;
}

/**
 * The provider opened the checkout and no longer knows it: an operator has to ask the provider. A
 * payment without money still expires on time.
 */
async function withoutCheckout(deps: Deps, payment: Payment, askedAt: Date): Promise<PaymentState> {
  const { id, status, providerCheckoutId } = payment;
  await openCase(deps.db, 'checkout_missing', id, { status, checkout: providerCheckoutId });
  const isUnpaid = status === 'created' || status === 'pending';
  const after = isUnpaid ? await recordCheckout(deps, id, NOTHING_CAME, askedAt) : payment;
  const why = 'Waiting for an operator: the provider does not know the checkout.';
  return reportPayment(deps.db, after, why, { askedAt, isMismatch: true });
}

/**
 * Opens a case for undecided money that an ended payment cannot take, or that the provider holds: an operator
 * decides, or clarifies it with the provider.
 */
async function noteUncredited(db: Db, payment: Payment, checkout: Checkout): Promise<void> {
  if (isOpenPayment(payment.status)) return;
  await resolveCreditedMoney(db, payment.id);
  if (isSentBack(checkout)) return;
  const credited = await creditedTransfers(db, payment.id);
  const lost = checkout.transfers.filter(
    ({ id, status }) => status === 'confirmed' && !credited.has(id),
  );
  if (lost.length === 0) return;
  const found = lost.map(({ id, amount }) => ({ id, amount }));
  const kind = checkout.onHold ? 'late_money_held' : 'money_not_credited';
  const transfers = await undecidedFacts(db, kind, payment.id, found);
  if (transfers.length === 0) return;
  await openCase(db, kind, payment.id, { status: payment.status, transfers });
}
