/**
 * Opens a payment: first the checkout at the provider, then the payment in one transaction. Safe to
 * run twice: the provider is idempotent by the payment's id, and an existing payment is kept. The
 * workflow cancels a checkout that has no payment; no customer was shown it.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { EventTx } from '../../src/db/webhooks/events';
import { lockClaim, readClaim, releaseClaim, type HeldClaim } from '../../src/db/idempotency';
import { type Opening, readOpening } from '../../src/db/accounts/accounts';
import { listFeeRules } from '../../src/db/accounts/fee-rules';
import { findPayment, findPaymentByReference, insertPayment } from '../../src/db/payments/payments';
import type { Refusal, UnavailableReason } from '../../src/domain/errors';
import type { FeeRule, FeeTerms } from '../../src/domain/fees';
import { logoPath } from '../../src/domain/logo';
import { ZERO } from '../../src/domain/money';
import type { Payment, PaymentRequest } from '../../src/domain/payment';
import { presentCreated } from '../../src/kit/service/envelope';
import { duplicateReference, paymentTerms } from '../../src/domain/terms';
import { presentPayment } from '../../src/features/payments/payments-contract';
import type { Checkout } from '../../src/adapters/providers/port';
import type { OpenReport, PaymentInput } from '../../workflows/messages';
import { type Deps, inEventTransaction, providerOf } from '../deps';
import { eventOfPayment } from '../events';
import { isFor } from './check';
import { reportOpened, withPage } from './report';

type Claim = HeldClaim<PaymentRequest>;

export async function openPayment(deps: Deps, input: PaymentInput): Promise<OpenReport> {
  const claim = await readClaim<PaymentRequest>(deps.db, input.paymentId);
  if (claim === null) return withoutClaim(deps, input);
  const prepared = await prepare(deps, claim);
  if ('refusal' in prepared) return refuse(deps, input, prepared.refusal);
  const { feeTerms } = prepared.terms;
  const { now: createdAt, ...merchant } = await readOpening(deps.db, claim.accountId);
  const expiresAt = new Date(createdAt.getTime() + claim.request.expiresInSeconds * 1000);
  const at = { provider: claim.route.provider, mode: claim.mode };
  const result = await deps.localCalls.run(at, () =>
    openCheckout(deps, input.paymentId, claim, { ...merchant, expiresAt }),
  );
  if (result.kind === 'limited') {
    const refused = await refuse(deps, input, unavailable('provider_rate_limited'));
    return { ...refused, retryAfterMs: result.retryAfterMs };
  }
  if (result.kind === 'refused' && result.field !== undefined) {
    return refuse(deps, input, notTaken(result.field, result.reason));
  }
  if (result.kind !== 'found') {
    const refused = await refuse(deps, input, unavailable('provider_unavailable'));
    return result.kind === 'unknown' ? { ...refused, unusedCheckout: true } : refused;
  }
  const payment = buildPayment(input.paymentId, claim, result.checkout, {
    feeTerms,
    createdAt,
    expiresAt,
  });
  const outcome = await inEventTransaction(deps, payment.id, (tx) => store(tx, payment));
  if (outcome !== 'stored') return outcome;
  // A checkout about something else is checked at once, which opens a case.
  if (!isFor(payment, result.checkout)) return { kind: 'opened' };
  return { kind: 'opened', state: withPage(deps, payment.id, reportOpened(payment)) };
}

async function withoutClaim(deps: Deps, input: PaymentInput): Promise<OpenReport> {
  const { paymentId } = input;
  if ((await findPayment(deps.db, paymentId)) !== null) {
    // An earlier run may have died between its commit and the start of the deliveries.
    deps.webhookDeliveryStarter.lookFor(paymentId);
    return { kind: 'opened' };
  }
  await releaseClaim(deps.db, paymentId);
  return { kind: 'abandoned', unusedCheckout: true };
}

/**
 * The provider is asked this many times for the checkout, because a request that timed out may still
 * reach it.
 */
const LOOKS_FOR_CHECKOUT = 3;

/**
 * Cancels a checkout whose request was not answered, or whose worker died: without a payment, nobody
 * would look at it again. It fails until the provider has answered, and Temporal repeats it. If the
 * provider never answers, money on the checkout opens the case `money_without_payment`.
 */
export async function cancelUnusedCheckout(
  deps: Deps,
  { paymentId, provider, mode }: PaymentInput,
): Promise<void> {
  const result = await providerOf(deps, { id: paymentId, provider, mode }).cancelCheckout(
    paymentId,
  );
  switch (result.kind) {
    case 'found':
    case 'refused':
      return;
    case 'not_found':
      if (activityInfo().attempt >= LOOKS_FOR_CHECKOUT) return;
      throw notCancelled('The provider has no checkout so far.');
    case 'limited':
      throw notCancelled('The provider limits the rate of requests.', result.retryAfterMs);
    case 'unknown':
      throw notCancelled('The provider did not answer.');
  }
}

function notCancelled(message: string, nextRetryDelay?: number): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({
    type: 'NotCancelled',
    message,
    category,
    ...(nextRetryDelay === undefined ? {} : { nextRetryDelay }),
  });
}

async function prepare(
  { db }: Deps,
  { accountId, mode, request, route: { provider } }: Claim,
): Promise<ReturnType<typeof paymentTerms>> {
  const { reference, currency } = request;
  const existingId = await findPaymentByReference(db, { accountId, mode, reference });
  const rule = (await listFeeRules(db, accountId)).find(
    (one) => one.direction === 'payin' && one.provider === provider && one.currency === currency,
  );
  return paymentTerms({ existingId, feeTerms: rule === undefined ? null : termsOf(rule) });
}

function termsOf({ percentage, fixedAmount, minFee, maxFee }: FeeRule): FeeTerms {
  return { percentage, fixedAmount, minFee, maxFee };
}

function openCheckout(
  deps: Deps,
  paymentId: string,
  { mode, request, route: { provider, network } }: Claim,
  { expiresAt, merchantName, logo }: Omit<Opening, 'now'> & { expiresAt: Date },
) {
  const { amount, currency, successUrl, cancelUrl, description, metadata } = request;
  return providerOf(deps, { id: paymentId, provider, mode }).openCheckout({
    reference: paymentId,
    amount,
    currency,
    network,
    expiresAt,
    successUrl,
    cancelUrl,
    description,
    ...(merchantName === null ? {} : { merchantName }),
    ...(logo === null ? {} : { merchantLogoUrl: `${deps.dashboardUrl}${logoPath(logo)}` }),
    scenario: mode === 'test' ? (metadata['scenario'] ?? null) : null,
  });
}

async function refuse(
  { db }: Deps,
  { paymentId }: PaymentInput,
  refusal: Refusal,
): Promise<OpenReport & { kind: 'refused' }> {
  await releaseClaim(db, paymentId);
  return { kind: 'refused', refusal };
}

async function store(tx: EventTx, payment: Payment): Promise<OpenReport | 'stored'> {
  if ((await lockClaim(tx, payment.id)) === null) {
    const known = await findPayment(tx, payment.id);
    return known === null ? { kind: 'abandoned', unusedCheckout: true } : { kind: 'opened' };
  }
  const event = eventOfPayment(payment, null);
  const response = presentCreated(presentPayment(payment));
  const inserted = await insertPayment(tx, payment, event, response);
  if (inserted) return 'stored';
  const existing = await findPaymentByReference(tx, payment);
  if (existing === null)
    throw new Error(`the reference of ${payment.id} is taken, but no payment has it`);
  await releaseClaim(tx, payment.id);
  const refusal = duplicateReference('payment', existing);
  return { kind: 'refused', refusal, unusedCheckout: true };
}

function buildPayment(
  paymentId: string,
  { accountId, mode, apiKeyId, request, route: { provider, network } }: Claim,
  checkout: Checkout,
  terms: { feeTerms: FeeTerms; createdAt: Date; expiresAt: Date },
): Payment {
  const { expiresInSeconds, provider: _asked, network: _askedNetwork, ...asked } = request;
  return {
    ...asked,
    ...terms,
    id: paymentId,
    accountId,
    mode,
    status: 'created',
    provider,
    network,
    receivedAmount: ZERO,
    unconfirmedAmount: ZERO,
    creditedAmount: ZERO,
    serviceFee: ZERO,
    refundedAmount: ZERO,
    reversedAmount: ZERO,
    reversedFee: ZERO,
    exceptions: [],
    txHash: null,
    depositAddress: checkout.depositAddress,
    transfers: [],
    checkoutUrl: checkout.checkoutUrl,
    failureReason: null,
    apiKeyId,
    providerCheckoutId: checkout.providerId,
    sequence: 1,
    updatedAt: terms.createdAt,
    completedAt: null,
  };
}

/** The same request would be refused again, so it is not answered with 503. */
function notTaken(field: 'amount' | 'currency', message: string): Refusal {
  const rule = field === 'amount' ? 'format' : 'unsupported';
  return { code: 'validation_failed', details: { fields: [{ field, rule, message }] } };
}

function unavailable(reason: UnavailableReason): Refusal {
  return { code: 'service_unavailable', details: { reason } };
}
