/** The payment endpoints. A workflow opens each payment; reads never use Temporal. */
import { listRoutes } from '../../db/accounts/currency-routes';
import { listSource } from '../../db/lists';
import { listPayments } from '../../db/payments/payment-list';
import {
  type Asked,
  countAsked,
  findPayment,
  findPaymentByReference,
} from '../../db/payments/payments';
import type { Db, Reader } from '../../db/transaction';
import { ApiError, providerLimited, type UnavailableReason } from '../../domain/errors';
import { DECIDABLE, isOpenPayment, type Payment, type PaymentRequest } from '../../domain/payment';
import { choosePaymentRoute, type ChosenRoute } from '../../domain/route';
import { takesLateMoney } from '../../domain/payment-step';
import { duplicateReference } from '../../domain/terms';
import { newId } from '../../platform/lib/new-id';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import {
  type PaymentStart,
  paymentStart,
  type PaymentWorkflows,
} from '../../temporal/payment-workflows';
import type { Admission } from '../../kit/service/admission';
import { readAnswer, runClaimed } from '../../kit/service/idempotency';
import { checkDecimals, type NetworkFees } from '../../kit/service/network-fees';
import type { Caller, Payments, StoredResponse } from '../../kit/service/services';

export interface PaymentsDeps {
  db: Db;
  shortStatements: Reader;
  providers: ProviderRegistry;
  networkFees: Pick<NetworkFees, 'decimals'>;
  paymentWorkflows: PaymentWorkflows;
  /** Admits requests that open a checkout. */
  admission: Admission;
}

/** The time limit is short, because the merchant's customer is waiting (decisions/payments#checkouts). */
const OPEN_DEADLINE_MS = 7_000;
/** Longer than a provider's timeout. */
const VERIFY_DEADLINE_MS = 12_000;
const ASKED_PER_MINUTE = 6;

export function createPayments(deps: PaymentsDeps): Payments {
  return {
    check: async (caller, request) => {
      await findRoute(deps, caller, request);
      await refuseUsedReference(deps.db, caller, request.reference);
    },
    create: (caller, input) => create(deps, caller, input),
    list: (caller, query) => listPayments(listSource(deps, query), { ...caller, ...query }),
    get: (caller, id) => getOwnPayment(deps.shortStatements, caller, id),
    verify: (caller, id) => verify(deps, caller, id),
    cancel: (caller, id) => cancel(deps, caller, id),
  };
}

async function create(
  deps: PaymentsDeps,
  caller: Caller,
  { idempotencyKey, request }: { idempotencyKey: string; request: PaymentRequest },
): Promise<StoredResponse> {
  deps.admission.refuseIfLate(caller);
  const paymentId = newId('payment');
  const { accountId, mode } = caller;
  const { currency, amount } = request;
  return runClaimed(deps, {
    caller,
    objectId: paymentId,
    endpoint: '/payments',
    idempotencyKey,
    request,
    prepare: async () => {
      const route = findRoute(deps, caller, request);
      route.catch(() => undefined);
      await refuseUsedReference(deps.db, caller, request.reference);
      return { ...(await route), networkFee: null };
    },
    create: ({ provider }) =>
      deps.admission.track(caller, () =>
        open(deps, { paymentId, provider, accountId, mode, currency, amount }),
      ),
  });
}

async function open(deps: PaymentsDeps, start: PaymentStart): Promise<StoredResponse> {
  const outcome = await deps.paymentWorkflows.open(start, OPEN_DEADLINE_MS);
  if (outcome.kind === 'refused') {
    const { refusal, retryAfterMs } = outcome;
    throw retryAfterMs === undefined ? new ApiError(refusal) : providerLimited(retryAfterMs);
  }
  return readAnswer(deps.db, start.paymentId);
}

async function findRoute(
  { db, networkFees, providers }: PaymentsDeps,
  { mode }: Caller,
  request: PaymentRequest,
): Promise<ChosenRoute> {
  const routes = (await listRoutes(db)).filter(
    ({ direction, currency }) => direction === 'payin' && currency === request.currency,
  );
  const taking = providers.list(mode).filter(({ capabilities }) => capabilities.pay_in);
  const codes = taking.map(({ code }) => code);
  const chosen = choosePaymentRoute(request, routes, codes);
  if ('refusal' in chosen) throw new ApiError(chosen.refusal);
  await checkDecimals(networkFees, { ...request, ...chosen.route, mode });
  return chosen.route;
}

/** An early check; the transaction that creates the payment checks again. */
async function refuseUsedReference(
  db: Db,
  { accountId, mode }: Caller,
  reference: string,
): Promise<void> {
  const existing = await findPaymentByReference(db, { accountId, mode, reference });
  if (existing !== null) throw new ApiError(duplicateReference('payment', existing));
}

/**
 * Asks the provider now (decisions/payments#verify). A payment that takes no more money is returned
 * unchanged.
 */
async function verify(deps: PaymentsDeps, caller: Caller, id: string): Promise<Payment> {
  const payment = await getOwnPayment(deps.db, caller, id);
  await refuseTooMany(deps.db, id, 'requests');
  if (!isOpenPayment(payment.status) && !takesLateMoney(payment, new Date())) return payment;
  const start = paymentStart(payment);
  const outcome = await deps.paymentWorkflows.verify(start, newId('request'), VERIFY_DEADLINE_MS);
  refuseUnanswered(outcome);
  return getOwnPayment(deps.db, caller, id);
}

/** Limits the requests that ask the provider about one payment. @throws ApiError rate_limited */
async function refuseTooMany(db: Db, id: string, what: Asked): Promise<void> {
  const { count, secondsLeft } = await countAsked(db, id, what);
  if (count <= ASKED_PER_MINUTE) return;
  const headers = { 'Retry-After': Math.max(1, secondsLeft).toString() };
  throw new ApiError(
    { code: 'rate_limited', details: { limit_per_minute: ASKED_PER_MINUTE } },
    headers,
  );
}

/** @throws ApiError service_unavailable when the workflow, or the provider, has not answered */
function refuseUnanswered(outcome: Awaited<ReturnType<PaymentWorkflows['verify']>>): void {
  if (outcome.kind === 'no_answer') throw unavailable('workflow_engine_unavailable');
  if (outcome.kind !== 'verified' || outcome.answered) return;
  if (outcome.retryAfterMs !== undefined) throw providerLimited(outcome.retryAfterMs);
  throw unavailable('provider_unavailable');
}

function unavailable(reason: UnavailableReason): ApiError {
  return new ApiError({ code: 'service_unavailable', details: { reason } });
}

/**
 * The provider decides between a cancellation and a transfer at the same moment. What arrives after it
 * is late money (decisions/payments#late-payments).
 */
async function cancel(deps: PaymentsDeps, caller: Caller, id: string): Promise<Payment> {
  const payment = await getOwnPayment(deps.db, caller, id);
  if (!DECIDABLE.cancel.includes(payment.status)) throw notCancellable(payment);
  await refuseTooMany(deps.db, id, 'cancellations');
  const by = newId('request');
  const outcome = await deps.paymentWorkflows.cancel(paymentStart(payment), by, VERIFY_DEADLINE_MS);
  const now = await getOwnPayment(deps.db, caller, id);
  if (now.status === 'cancelled') return now;
  if (DECIDABLE.cancel.includes(now.status)) refuseUnanswered(outcome);
  throw notCancellable(now);
}

function notCancellable({ status }: Payment): ApiError {
  const message = DECIDABLE.cancel.includes(status)
    ? 'The provider did not cancel this payment: the customer has already sent funds.'
    : `This payment is ${status}. Only a payment that is ${DECIDABLE.cancel.join(' or ')} can be cancelled.`;
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}

export async function getOwnPayment(
  db: Reader,
  { accountId, mode }: Caller,
  id: string,
): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment?.accountId !== accountId || payment.mode !== mode) {
    throw new ApiError({ code: 'not_found', details: { resource: 'payment' } });
  }
  return payment;
}
