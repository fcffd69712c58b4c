/**
 * The payout endpoints. Reads never use Temporal; writes go through the payout's workflow.
 *
 * Creating a payout runs the checks that need no lock, claims the idempotency key, and starts the
 * workflow, whose reservation decides. The reserving transaction stores the response with the
 * payout, so every retry gets the first response.
 */
import { listPayoutRoutes, readPayoutOptions } from '../../db/accounts/currency-routes';
import { listSource } from '../../db/lists';
import { listPayouts } from '../../db/payouts/payout-list';
import { readPayoutFacts } from '../../db/payouts/payout-facts';
import { readRecipients } from '../../db/recipients/recipients';
import { insertApproval } from '../../db/payouts/payout-conditions';
import { findPayout } from '../../db/payouts/payouts';
import type { Reader } from '../../db/transaction';
import { destinationFault } from '../../adapters/destinations';
import type { Beneficiary } from '../../domain/beneficiary';
import { ApiError, providerLimited, validationFailed } from '../../domain/errors';
import { type Amount, subtract } from '../../domain/money';
import {
  type Payout,
  type PayoutOrder,
  type PayoutRequest,
  type PayoutStatus,
  payoutStatusesBefore,
  type SentPayoutOrder,
} from '../../domain/payout';
import { addressed, type Addressed } from '../../domain/recipient';
import { choosePayoutRoute, type ChosenRoute } from '../../domain/route';
import { duplicateReference, payoutTerms } from '../../domain/terms';
import { newId } from '../../platform/lib/new-id';
import { openBeneficiary, sealBeneficiary } from '../../platform/lib/beneficiary-seal';
import type { SecretBox } from '../../platform/lib/secret-box';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import { payoutStart, type PayoutWorkflows } from '../../temporal/payout-workflows';
import type { Admission } from '../../kit/service/admission';
import { readAnswer, runClaimed } from '../../kit/service/idempotency';
import { buildDossier, type DossierDeps } from './payout-dossier';
import { checkRelease } from './release-request';
import { checkDecimals, type NetworkFees } from '../../kit/service/network-fees';
import type { Caller, PayoutQuote, Payouts, StoredResponse } from '../../kit/service/services';

/** The dependencies of the choice of a provider, a network and a fee. */
export interface ChoosingDeps {
  providers: ProviderRegistry;
  networkFees: NetworkFees;
}

export interface PayoutsDeps extends ChoosingDeps, DossierDeps {
  shortStatements: Reader;
  payoutWorkflows: PayoutWorkflows;
  secretBox: SecretBox;
  /** Admits requests that reserve funds. */
  admission: Admission;
}

/** The time limit is well below the claim's lease, so that the claim can still be released after it. */
const RESERVE_DEADLINE_MS = 10_000;
const CANCEL_DEADLINE_MS = 10_000;

export function createPayouts(deps: PayoutsDeps): Payouts {
  return {
    quote: (caller, { beneficiary: _, ...request }) => quote(deps, { caller, request }),
    create: (caller, input) => create(deps, caller, input),
    list: (caller, query) => listPayouts(listSource(deps, query), { ...caller, ...query }),
    get: (caller, id) => getOwn(deps.shortStatements, caller, id),
    beneficiaryOf: (caller, payout) => beneficiaryOf(deps, caller, payout),
    dossier: async (caller, id) => buildDossier(deps, await getOwn(deps.db, caller, id)),
    cancel: (caller, id) => cancel(deps, caller, id),
    release: (caller, id) => release(deps, caller, id),
    lookAgain: async (caller, id) => {
      const payout = await getOwn(deps.db, caller, id);
      const by = newId('request');
      await deps.payoutWorkflows.release(payoutStart(payout), by, CANCEL_DEADLINE_MS);
    },
  };
}

type PayoutRoutes = Awaited<ReturnType<typeof listPayoutRoutes>>;

interface Wish {
  caller: Omit<Caller, 'scopes'>;
  request: PayoutRequest;
}

interface Draft {
  caller: Caller;
  request: PayoutOrder;
  payoutId: string;
}

async function quote(
  deps: PayoutsDeps,
  { caller, request: order }: Omit<Draft, 'payoutId'>,
): Promise<PayoutQuote> {
  const { sent, wish } = await address(deps, caller, order);
  const routes = await listPayoutRoutes(deps.db, order.currency);
  const chosen = await choosePayout(deps, wish, routes);
  const { route, networkFee } = chosen;
  await checkRelease(deps.db, caller, order.release);
  const { terms, available } = await price(deps, wish, chosen, sent);
  const { serviceFee, totalDebit, reviewReasons, needsSecondPerson } = terms;
  const { provider, network } = route;
  const availableAfter = subtract(available, totalDebit);
  return {
    ...{ provider, network, serviceFee, networkFee, totalDebit, availableAfter },
    ...{ reviewReasons, needsSecondPerson },
  };
}

async function create(
  deps: PayoutsDeps,
  caller: Caller,
  { idempotencyKey, request: sent }: { idempotencyKey: string; request: SentPayoutOrder },
): Promise<StoredResponse> {
  deps.admission.refuseIfLate(caller);
  const { secretBox } = deps;
  const { beneficiary, ...request } = sent;
  const payoutId = newId('payout');
  const draft = { caller, payoutId, request };
  return runClaimed(deps, {
    caller,
    objectId: payoutId,
    endpoint: '/payouts',
    idempotencyKey,
    request,
    ...(beneficiary === undefined ? {} : { personal: { data: beneficiary, box: secretBox } }),
    prepare: async () => {
      const wanted = { ...caller, reference: request.reference, currency: request.currency };
      const { existingId, routes } = await readPayoutOptions(deps.shortStatements, wanted);
      if (existingId !== null) throw new ApiError(duplicateReference('payout', existingId));
      const { sent: to, wish } = await address(deps, caller, request);
      const chosen = await choosePayout(deps, wish, routes);
      await price(deps, wish, chosen, to);
      await checkRelease(deps.db, caller, request.release);
      const { recipientSince } = to;
      return {
        ...chosen.route,
        networkFee: chosen.networkFee,
        ...(recipientSince === undefined ? {} : { recipientSince }),
        ...(beneficiary === undefined
          ? {}
          : { beneficiary: sealBeneficiary(secretBox, beneficiary, payoutId) }),
      };
    },
    create: () => deps.admission.track(caller, () => reserve(deps, draft)),
  });
}

/** @throws ApiError for a recipient that is unknown or waits */
async function address(
  { db }: PayoutsDeps,
  caller: Caller,
  order: PayoutOrder,
): Promise<{ sent: Addressed; wish: Wish }> {
  const sent = addressed(order, await readRecipients(db, caller, [order]));
  if ('refusal' in sent) throw new ApiError(sent.refusal);
  return { sent, wish: { caller, request: sent.request } };
}

interface Chosen {
  route: ChosenRoute;
  networkFee: Amount;
}

/**
 * @param routes of the currency
 * @throws ApiError for a request that no route takes, and service_unavailable without an estimate
 */
export async function choosePayout(
  deps: ChoosingDeps,
  wish: Wish,
  routes: PayoutRoutes,
): Promise<Chosen> {
  const route = chooseRoute(deps, wish, routes);
  const networkFee = await estimateFee(deps, wish, route);
  await checkDecimals(deps.networkFees, { ...wish.request, ...route, mode: wish.caller.mode });
  return { route, networkFee };
}

/** @throws ApiError for a request that no route takes */
export function chooseRoute(
  deps: Pick<ChoosingDeps, 'providers'>,
  wish: Wish,
  routes: PayoutRoutes,
): ChosenRoute {
  const route = findRoute(deps, wish, routes);
  checkAddress(wish.request, route);
  return route;
}

/** Prices the payout, and refuses early where possible. The reservation checks again, under its lock. */
async function price(
  deps: PayoutsDeps,
  { caller, request }: Wish,
  { route, networkFee }: Chosen,
  { isKnownRecipient }: Addressed,
) {
  const facts = await readPayoutFacts(deps.db, { ...caller, ...route, request });
  const destinationUsedBefore = facts.destinationUsedBefore || isKnownRecipient;
  const known = { ...facts, destinationUsedBefore };
  const result = payoutTerms(caller.mode, request, networkFee, known);
  if ('refusal' in result) throw new ApiError(result.refusal);
  return { terms: result.terms, available: facts.available };
}

function findRoute(
  deps: Pick<ChoosingDeps, 'providers'>,
  { caller, request }: Wish,
  routes: PayoutRoutes,
): ChosenRoute {
  const providers = deps.providers.list(caller.mode).map(({ code, capabilities }) => ({
    code,
    destinationTypes: capabilities.destination_types,
    networkRequired: capabilities.network_required,
  }));
  const chosen = choosePayoutRoute(request, routes, providers);
  if ('refusal' in chosen) throw new ApiError(chosen.refusal);
  return chosen.route;
}

/** @throws ApiError validation_failed */
function checkAddress({ destination }: PayoutRequest, { network }: ChosenRoute): void {
  if (destination.type !== 'crypto_address') return;
  const message = destinationFault(network, destination.value);
  if (message === null) return;
  throw validationFailed([{ field: 'destination.value', rule: 'format', message }]);
}

async function estimateFee(
  { networkFees }: ChoosingDeps,
  { caller, request }: Wish,
  route: ChosenRoute,
): Promise<Amount> {
  const fee = await networkFees.estimate(caller.mode, route, request.currency);
  if (typeof fee === 'string') return fee;
  if (fee !== null) throw providerLimited(fee.retryAfterMs);
  throw new ApiError({ code: 'service_unavailable', details: { reason: 'provider_unavailable' } });
}

async function reserve(
  deps: PayoutsDeps,
  { caller, payoutId, request }: Draft,
): Promise<StoredResponse> {
  const outcome = await deps.payoutWorkflows.reserve(
    {
      payoutId,
      accountId: caller.accountId,
      mode: caller.mode,
      currency: request.currency,
      amount: request.amount,
    },
    RESERVE_DEADLINE_MS,
  );
  if (outcome.kind === 'refused') throw new ApiError(outcome.refusal);
  return readAnswer(deps.db, payoutId);
}

/**
 * Who could have sent it sees it. Null if it was erased; undefined if there is none, or the key may not see
 * it.
 */
function beneficiaryOf(
  { secretBox }: PayoutsDeps,
  { scopes }: Caller,
  { id, beneficiary }: Payout,
): Beneficiary | null | undefined {
  if (beneficiary === null || !scopes.includes('payouts:write')) return undefined;
  return openBeneficiary(secretBox, beneficiary, id);
}

/** A payout of another account or mode gets the same error as one that does not exist. */
async function getOwn(db: Reader, { accountId, mode }: Caller, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout?.accountId !== accountId || payout.mode !== mode) {
    throw new ApiError({ code: 'not_found', details: { resource: 'payout' } });
  }
  return payout;
}

/**
 * Stores the approval before the workflow gets the message, so that nobody can approve by a message alone,
 * and no approval is lost.
 */
async function release(deps: PayoutsDeps, caller: Caller, id: string): Promise<Payout> {
  const payout = await getOwn(deps.db, caller, id);
  const approval = payout.conditions?.find(({ kind }) => kind === 'approval');
  if (approval?.kind !== 'approval') throw notWaiting(payout);
  const { api_key: key } = approval.parameters;
  if (key !== caller.apiKeyId) {
    throw new ApiError({ code: 'release_not_allowed', details: { api_key: key } });
  }
  if (approval.metAt !== null) return payout;
  if (payout.awaitsRelease !== true) throw notWaiting(payout);
  const requestId = newId('request');
  await insertApproval(deps.db, id, key, requestId);
  await deps.payoutWorkflows.release(payoutStart(payout), requestId, CANCEL_DEADLINE_MS);
  const now = await getOwn(deps.db, caller, id);
  const isMet = now.conditions?.some(({ kind, metAt }) => kind === 'approval' && metAt !== null);
  if (isMet === true) return now;
  if (now.awaitsRelease !== true) throw notWaiting(now);
  const details = { reason: 'workflow_engine_unavailable' } as const;
  throw new ApiError({ code: 'service_unavailable', details });
}

function notWaiting({ status, awaitsRelease }: Payout): ApiError {
  const message =
    awaitsRelease === true
      ? 'This payout does not wait for the approval of an API key.'
      : `This payout is ${status} and waits for no approval of an API key.`;
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}

async function cancel(deps: PayoutsDeps, caller: Caller, id: string): Promise<Payout> {
  const payout = await getOwn(deps.db, caller, id);
  if (payout.awaitsBatch) throw rowOfBatch(payout);
  if (!payoutStatusesBefore('cancel').includes(payout.status)) throw invalidState(payout.status);
  const by = newId('request');
  const outcome = await deps.payoutWorkflows.cancel(payoutStart(payout), by, CANCEL_DEADLINE_MS);
  const now = await getOwn(deps.db, caller, id);
  // The row shows whether this request cancelled the payout, even if the answer was lost.
  if (now.status === 'cancelled' && now.decidedBy === by) return now;
  if (outcome.kind !== 'no_answer') throw invalidState(now.status);
  throw new ApiError({
    code: 'service_unavailable',
    details: { reason: 'workflow_engine_unavailable' },
  });
}

function rowOfBatch({ status, batchId }: Payout): ApiError {
  const message = `This payout is a row of the batch ${batchId ?? ''}, which has not released it. Stop the batch instead.`;
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}

function invalidState(status: PayoutStatus): ApiError {
  const from = payoutStatusesBefore('cancel').join(' or ');
  return new ApiError({
    code: 'invalid_state',
    details: { status },
    message: `This payout is ${status}. Only a payout that is ${from} can be cancelled.`,
  });
}
