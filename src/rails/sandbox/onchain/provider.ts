/** What the sandbox answers behind the on-chain provider's API; ../transfers and ../checkouts decide. */
import type { FeeView, OnchainProvider } from '../../onchain-api/api';
import type { CheckoutView } from '../../onchain-api/present';
import { HttpRefusal, refusal } from '../../onchain-api/refusals';
import type { ChangesQuery, Mode } from '../../onchain-api/requests';
import { type Checkout, checkoutUrl, findScenario } from '../checkouts/checkout';
import type { Checkouts } from '../checkouts/checkouts';
import type { StepRefusal } from '../checkouts/steps';
import type { SandboxSettings } from '../config';
import { lastFourDecimals, shortenAmount } from '../decimal-text';
import { hang, resetConnection } from '../outages';
import type { ReferenceKey, ChangesQuery as BookQuery } from '../records';
import type { Transfers } from '../transfers/transfers';
import { findFeeEstimate } from './fees';
import { TRANSFER_ID_PREFIX, viewCheckout, viewTransfer } from './views';

interface ProviderParts {
  transfers: Transfers;
  checkouts: Checkouts;
  settings: SandboxSettings;
}

export function createOnchainProvider(parts: ProviderParts): OnchainProvider {
  const { transfers, checkouts, settings } = parts;
  const view = (checkout: Checkout): CheckoutView =>
    viewCheckout(checkout, checkoutUrl(settings, checkout));
  return {
    async submitTransfer({ asset, ...order }, ctx) {
      requireRepresentable(order.amount, requireRoute(asset, order.network));
      const submission = await transfers.submit({
        ...order,
        provider: 'onchain_provider',
        currency: asset,
        destinationType: 'crypto_address',
      });
      switch (submission.kind) {
        case 'transfer':
          return { transfer: viewTransfer(submission.transfer), isNew: submission.isNew };
        case 'refused':
          throw refusal('destination_refused');
        case 'conflict':
          throw refusal('client_reference_conflict');
        case 'fault':
          if (submission.fault === 'hang') hang(ctx);
          else if (submission.fault === 'reset') resetConnection(ctx);
          else throw refusal('internal_error');
          return null;
      }
    },

    // Nothing in the sandbox needs an operator of the provider.
    listAlarms: () => [],
    listWallets: () => [],
    listUnknownTransactions: () => [],
    claimTransaction: () => Promise.reject(refusal('unknown_transaction_not_found')),

    async findTransfer(mode, reference) {
      const transfer = await transfers.find(keyOf(mode, reference));
      return transfer === null ? null : viewTransfer(transfer);
    },

    async listTransfers(mode, query) {
      return (await transfers.list(bookOf(mode), bookQuery(query))).map(viewTransfer);
    },

    estimateFee: (_, asset, network) => requireRoute(asset, network),

    async openCheckout({ asset, scenario, ...order }) {
      requireRepresentable(order.amount, requireRoute(asset, order.network));
      const opening = await checkouts.open({
        ...order,
        provider: 'onchain_provider',
        currency: asset,
        expiresAt: order.expiresAt.toISOString(),
        scenario: findScenario(order.mode, scenario),
      });
      if (opening.kind === 'conflict') throw refusal('client_reference_conflict');
      return { checkout: view(opening.checkout), isNew: opening.isNew };
    },

    async findCheckout(mode, reference) {
      const checkout = await checkouts.find(keyOf(mode, reference));
      return checkout === null ? null : view(checkout);
    },

    async listCheckouts(mode, query) {
      return (await checkouts.list(bookOf(mode), bookQuery(query))).map(view);
    },

    async takeStep(mode, reference, step) {
      const outcome = await checkouts.act(keyOf(mode, reference), step);
      if (outcome === null) return null;
      if (outcome.kind === 'refused') throw refusalOf(outcome.reason);
      return view(outcome.checkout);
    },
  };
}

function bookOf(mode: Mode): Pick<ReferenceKey, 'provider' | 'mode'> {
  return { provider: 'onchain_provider', mode };
}

function keyOf(mode: Mode, reference: string): ReferenceKey {
  return { ...bookOf(mode), reference };
}

function bookQuery({ from, after, limit }: ChangesQuery): BookQuery {
  return {
    from: from?.toISOString() ?? null,
    after:
      after === null
        ? null
        : {
            updatedAt: after.updatedAt.toISOString(),
            id: after.id.replace(TRANSFER_ID_PREFIX, ''),
          },
    limit: limit + 1,
  };
}

/** @throws HttpRefusal for a pair that the provider does not serve */
function requireRoute(asset: string, network: string): FeeView {
  const fee = findFeeEstimate(asset, network);
  if (fee === null) throw refusal('asset_not_supported');
  return fee;
}

/**
 * Stands for an amount with more decimals than its asset has on the network. It is a magic code, as
 * scenarios are, because a true limit of 6 decimals would leave no room for the codes. The refusal is
 * one that the gateway cannot foresee from the decimals that the provider states.
 */
const NOT_REPRESENTABLE = '9101';

function requireRepresentable(amount: string, { decimals }: FeeView): void {
  const hasMore = (shortenAmount(amount).split('.')[1] ?? '').length > decimals;
  if (hasMore || lastFourDecimals(amount) === NOT_REPRESENTABLE) {
    throw refusal('amount_not_representable');
  }
}

function refusalOf(reason: StepRefusal): HttpRefusal {
  switch (reason) {
    case 'not_on_hold':
      return refusal(reason);
    case 'no_answer':
      return refusal('internal_error');
    case 'refund_too_large':
    case 'refund_refused':
    case 'refund_reference_conflict':
    case 'not_payable':
    case 'no_such_transfer':
    case 'cannot_be_held':
      return new HttpRefusal(422, reason, 'The state of the checkout does not allow this.');
  }
}
