/**
 * POST /payouts. Claims the idempotency key, looks quickly at what needs no lock, and starts the
 * workflow, whose reservation decides. The reserving transaction stores the answer with the
 * payout, so what a client once got is what every retry gets.
 */
import { listPayoutRoutes } from '../db/repositories/currency-routes';
import { readPayoutFacts } from '../db/repositories/payout-facts';
import type { Db } from '../db/transaction';
import { destinationFault } from '../destinations';
import { ApiError, validationFailed } from '../domain/errors';
import type { Amount } from '../domain/money';
import type { PayoutRequest } from '../domain/payout';
import { chooseRoute, type ChosenRoute } from '../domain/payout-route';
import { payoutTerms } from '../domain/payout-terms';
import { newId } from '../lib/new-id';
import type { ProviderRegistry } from '../providers/registry';
import type { PayoutWorkflows } from '../temporal/payout-workflows';
import { readAnswer, runClaimed } from './claimed-request';
import type { NetworkFees } from './network-fees';
import type { Caller, StoredResponse } from './services';

export interface CreatePayoutDeps {
  db: Db;
  providers: ProviderRegistry;
  networkFees: NetworkFees;
  payoutWorkflows: PayoutWorkflows;
}

/** Well below the claim's lease: when this is over, the claim can still be ended by us. */
const RESERVE_DEADLINE_MS = 10_000;

interface Draft {
  caller: Caller;
  payoutId: string;
  request: PayoutRequest;
}

export async function createPayout(
  deps: CreatePayoutDeps,
  caller: Caller,
  { idempotencyKey, request }: { idempotencyKey: string; request: PayoutRequest },
): Promise<StoredResponse> {
  const payoutId = newId('payout');
  const draft = { caller, payoutId, request };
  const work = { caller, objectId: payoutId, endpoint: '/payouts', idempotencyKey, request };
  return runClaimed(deps.db, work, async () => {
    const route = await findRoute(deps, draft);
    checkAddress(request, route);
    const networkFee = await estimateFee(deps, draft, route);
    await checkTerms(deps, draft, route, networkFee);
    return reserve(deps, draft, route, networkFee);
  });
}

async function findRoute(deps: CreatePayoutDeps, { caller, request }: Draft): Promise<ChosenRoute> {
  const routes = await listPayoutRoutes(deps.db, request.currency);
  const providers = deps.providers.list(caller.mode).map(({ code, capabilities }) => ({
    code,
    destinationTypes: capabilities.destination_types,
    networkRequired: capabilities.network_required,
  }));
  const chosen = chooseRoute(request, routes, providers);
  if ('refusal' in chosen) throw ApiError.fromRefusal(chosen.refusal);
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
  { networkFees }: CreatePayoutDeps,
  { caller, request }: Draft,
  route: ChosenRoute,
): Promise<Amount> {
  const fee = await networkFees.estimate(caller.mode, route, request.currency);
  if (fee !== null) return fee;
  throw new ApiError('service_unavailable', { reason: 'provider_unavailable' });
}

/** Spares the workflow a request that cannot pass. The reservation looks again, under its lock. */
async function checkTerms(
  deps: CreatePayoutDeps,
  { caller, request }: Draft,
  route: ChosenRoute,
  networkFee: Amount,
): Promise<void> {
  const facts = await readPayoutFacts(deps.db, { ...caller, ...route, request });
  const result = payoutTerms(caller.mode, request, networkFee, facts);
  if ('refusal' in result) throw ApiError.fromRefusal(result.refusal);
}

async function reserve(
  deps: CreatePayoutDeps,
  { caller, payoutId, request }: Draft,
  route: ChosenRoute,
  networkFee: Amount,
): Promise<StoredResponse> {
  const outcome = await deps.payoutWorkflows.reserve(
    {
      payoutId,
      ...route,
      networkFee,
      accountId: caller.accountId,
      mode: caller.mode,
      currency: request.currency,
      amount: request.amount,
    },
    RESERVE_DEADLINE_MS,
  );
  if (outcome.kind === 'refused') throw ApiError.fromRefusal(outcome.refusal);
  return readAnswer(deps.db, payoutId);
}
