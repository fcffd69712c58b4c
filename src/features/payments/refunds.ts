/**
 * Refunds that a merchant asks for. The payment's workflow reserves the money in one transaction, in
 * which the row of the payment decides between this and every other refund; then it asks the provider.
 */
import { destinationFault } from '../../adapters/destinations';
import {
  findRefund,
  findRefundByReference,
  listMerchantRefunds,
  listRefunds,
} from '../../db/payments/payment-refunds';
import { readAccountRules, readKeyFacts } from '../../db/payouts/payout-facts';
import type { Db } from '../../db/transaction';
import type { Destination, DestinationType } from '../../domain/destination';
import { ApiError, validationFailed } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { memoFault, memoShape } from '../../domain/networks';
import { type Amount, subtract } from '../../domain/money';
import type { Payment } from '../../domain/payment';
import { priceReversal } from '../../domain/payment-pricing';
import {
  leftToRefund,
  needsAddress,
  type Refund,
  type RefundFilters,
  type RefundRequest,
  refundStatus,
  refundTerms,
} from '../../domain/refund';
import { duplicateReference, refundOutsideOfRules } from '../../domain/terms';
import { newId } from '../../platform/lib/new-id';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import { paymentStart, type PaymentWorkflows } from '../../temporal/payment-workflows';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { checkDecimals, type NetworkFees } from '../../kit/service/network-fees';
import { getOwnPayment } from './payments';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';

export interface RefundsDeps extends ClaimDeps {
  providers: ProviderRegistry;
  networkFees: Pick<NetworkFees, 'decimals'>;
  paymentWorkflows: PaymentWorkflows;
}

/** What a merchant sends. A memo that is absent does not say whether the destination has one. */
export interface RefundInput extends Omit<RefundRequest, 'destination'> {
  destination: (Omit<Destination, 'memo'> & { memo?: string | null }) | null;
}

export interface RefundQuote {
  amount: Amount;
  /** The amount that the balance pays. */
  taken: Amount;
  /** The part of the service fee that returns. */
  fee: Amount;
  /** What can be refunded afterwards. */
  left: Amount;
}

/** What a refund of a payment can be. */
export interface RefundChoices {
  payment: Payment;
  left: Amount;
  /** Empty if the provider sends the money to who paid. Otherwise the customer names an address. */
  destinationTypes: readonly DestinationType[];
}

interface ListRequest<Filters> {
  limit: number;
  after: ListPosition | null;
  filters: Filters;
}

/** The time limit is shorter than the lease of the claim, as for payouts. */
const ORDER_DEADLINE_MS = 12_000;

const NO_ANSWER = {
  code: 'service_unavailable',
  details: { reason: 'workflow_engine_unavailable' },
} as const;

export type Refunds = ReturnType<typeof createRefunds>;

export function createRefunds(deps: RefundsDeps) {
  return {
    /**
     * @throws ApiError not_found, invalid_state, refund_exceeds_payment, insufficient_balance,
     *   duplicate_reference, idempotency's
     */
    create: (
      caller: Caller,
      input: RefundInput & { idempotencyKey: string },
    ): Promise<StoredResponse> => create(deps, caller, input),

    /** The amounts that the refund would move now; reserves nothing. @throws ApiError as `create` */
    quote: async (caller: Caller, input: RefundInput): Promise<RefundQuote> => {
      const { payment, refunds, amount } = await prepare(deps, caller, input);
      const { taken, fee } = priceReversal(payment, amount);
      const left = subtract(leftToRefund(payment, refunds), amount);
      return { amount, taken, fee, left };
    },

    /** @throws ApiError not_found */
    choices: async (caller: Caller, paymentId: string): Promise<RefundChoices> => {
      const payment = await getOwnPayment(deps.db, caller, paymentId);
      const left = leftToRefund(payment, await listRefunds(deps.db, paymentId));
      const { refund_destination_types: types } = capabilitiesOf(deps, payment);
      return { payment, left, destinationTypes: types };
    },

    list: (caller: Caller, query: ListRequest<RefundFilters>): Promise<Page<Refund>> =>
      listMerchantRefunds(deps.db, { ...caller, ...query }),

    /** The refunds of one payment. @throws ApiError not_found */
    listOf: async (
      caller: Caller,
      paymentId: string,
      { filters, ...query }: ListRequest<RefundFilters>,
    ): Promise<Page<Refund>> => {
      await getOwnPayment(deps.db, caller, paymentId);
      const own = { ...filters, paymentId };
      return listMerchantRefunds(deps.db, { ...caller, ...query, filters: own });
    },

    /**
     * Takes back a refund that waits for a second person or an address; its money is returned.
     * @throws ApiError not_found, invalid_state, service_unavailable
     */
    withdraw: async (caller: Caller, id: string): Promise<Refund> => {
      const { paymentId } = await getOwn(deps.db, caller, id);
      const start = paymentStart(await getOwnPayment(deps.db, caller, paymentId));
      const by = newId('request');
      const outcome = await deps.paymentWorkflows.withdraw(start, id, by, ORDER_DEADLINE_MS);
      const refund = await getOwn(deps.db, caller, id);
      if (outcome === true) return refund;
      if (outcome !== false) throw new ApiError(NO_ANSWER);
      const status = refundStatus(refund.state);
      throw new ApiError({
        code: 'invalid_state',
        details: { status },
        message: notWaiting(refund),
      });
    },

    /** Makes the payment's workflow look for the second person's approval. @throws ApiError not_found */
    lookAgain: async (caller: Caller, id: string): Promise<void> => {
      const { paymentId } = await getOwn(deps.db, caller, id);
      const payment = await getOwnPayment(deps.db, caller, paymentId);
      await deps.paymentWorkflows.sendProviderUpdate(paymentStart(payment));
    },

    /** @throws ApiError not_found */
    get: (caller: Caller, id: string): Promise<Refund> => getOwn(deps.db, caller, id),
  };
}

function notWaiting({ state, payoutId }: Refund): string {
  if (state === 'ordered' && payoutId !== null) {
    return `The payout ${payoutId} sends this refund. Cancel the payout instead, while it can be cancelled.`;
  }
  return 'This refund waits for neither an address nor a second person, so it cannot be taken back.';
}

async function create(
  deps: RefundsDeps,
  caller: Caller,
  { idempotencyKey, ...input }: RefundInput & { idempotencyKey: string },
): Promise<StoredResponse> {
  const id = newId('refund');
  const request: RefundRequest = { ...input, destination: withMemo(input) };
  return runClaimed<RefundRequest, object>(deps, {
    caller,
    objectId: id,
    endpoint: `/payments/${input.paymentId}/refunds`,
    idempotencyKey,
    request,
    prepare: async () => {
      await prepare(deps, caller, input);
      return {};
    },
    create: async () => {
      const payment = await getOwnPayment(deps.db, caller, input.paymentId);
      const start = paymentStart(payment);
      const outcome = await deps.paymentWorkflows.refund(start, id, ORDER_DEADLINE_MS);
      if (outcome.kind === 'refused') throw new ApiError(outcome.refusal);
      return readAnswer(deps.db, id);
    },
  });
}

function withMemo({ destination }: RefundInput): Destination | null {
  return destination === null ? null : { ...destination, memo: destination.memo ?? null };
}

/** An early check; the transaction that reserves the money checks again. */
async function prepare(deps: RefundsDeps, caller: Caller, input: RefundInput) {
  const payment = await getOwnPayment(deps.db, caller, input.paymentId);
  const reference = { ...caller, reference: input.reference };
  const existingId = await findRefundByReference(deps.db, reference);
  if (existingId !== null) throw new ApiError(duplicateReference('refund', existingId));
  const request = { ...input, destination: withMemo(input) };
  const refunds = await listRefunds(deps.db, payment.id);
  const { name } = deps.providers.get(payment.provider, payment.mode);
  const capabilities = capabilitiesOf(deps, payment);
  const ability = {
    name,
    refunds: capabilities.refunds,
    destinationTypes: capabilities.refund_destination_types,
  };
  checkScope(caller, needsAddress(ability));
  const terms = refundTerms(payment, refunds, request, ability);
  if ('refusal' in terms) throw new ApiError(terms.refusal);
  checkDestination(payment, input);
  const key = await readKeyFacts(deps.db, caller, payment.currency);
  const account = await readAccountRules(deps.db, caller, payment.currency);
  const asked = { amount: terms.amount, toAddress: needsAddress(ability) };
  const outside = refundOutsideOfRules({ account, key }, payment, asked);
  if (outside !== null) throw new ApiError(outside);
  await checkDecimals(deps.networkFees, { ...payment, amount: terms.amount });
  return { payment, refunds, amount: terms.amount };
}

/**
 * A key that takes payments may send money back to who paid. Money for an address that is still to be named needs
 * more. A person has a role instead. @throws ApiError insufficient_scope
 */
function checkScope({ apiKeyId, scopes }: Caller, toAddress: boolean): void {
  if (!toAddress || isId('user', apiKeyId) || scopes.includes('refunds:write')) return;
  const details = { required_scope: 'refunds:write' } as const;
  throw new ApiError({ code: 'insufficient_scope', details });
}

function capabilitiesOf({ providers }: Pick<RefundsDeps, 'providers'>, payment: Payment) {
  return providers.get(payment.provider, payment.mode).capabilities;
}

/** @throws ApiError validation_failed */
function checkDestination({ network, mode }: Payment, { destination }: RefundInput): void {
  if (destination === null) return;
  if (mode === 'live') {
    const message =
      'Omit destination: the customer names the address of a live refund. To pay an address of your choice, create a payout.';
    throw validationFailed([{ field: 'destination', rule: 'unsupported', message }]);
  }
  const { type, value, memo } = destination;
  const message = type === 'crypto_address' ? destinationFault(network, value) : null;
  if (message !== null) {
    throw validationFailed([{ field: 'destination.value', rule: 'format', message }]);
  }
  const fault = memoFault(network, memo);
  if (fault === null) return;
  const what =
    fault === 'memo_not_supported'
      ? 'This destination does not support a memo. Omit destination.memo.'
      : `This network may need a memo. Set destination.memo to ${memoShape(network)}, or to null if the destination has none.`;
  throw validationFailed([{ field: 'destination.memo', rule: fault, message: what }]);
}

/** A refund of another account or mode gets the same error as one that does not exist. */
async function getOwn(db: Db, { accountId, mode }: Caller, id: string): Promise<Refund> {
  const refund = await findRefund(db, id);
  if (refund?.accountId === accountId && refund.mode === mode) return refund;
  throw new ApiError({ code: 'not_found', details: { resource: 'refund' } });
}
