/** What the wallet answers behind the on-chain provider's API (docs/onchain-provider.md). */
import type { OnchainProvider } from '../../onchain-api/api';
import type { CheckoutView } from '../../onchain-api/present';
import { refusal } from '../../onchain-api/refusals';
import type { Mode } from '../../onchain-api/requests';
import { listAlarms } from '../alarm-decisions';
import type { Chain } from '../chain/chain';
import type { CheckoutFacts } from '../checkouts/checkout';
import { type CheckoutParts, openCheckout, takeStep } from '../checkouts/steps';
import { findCheckout, listCheckouts } from '../checkouts/store';
import { viewCheckout } from '../checkouts/view';
import { claimTransaction, listUnknownTransactions } from '../sender/claim';
import { estimateFee } from '../sender/fee-estimate';
import {
  findTransfer,
  listTransfers,
  type OrderRules,
  sendableDecimals,
  submitTransfer,
  type Transfer,
  viewTransfer,
} from '../sender/transfers';
import { readHotWallets } from '../status';

/** An answer that is larger than the gateway reads would tell nothing. */
const ALARMS_MAX = 200;
const WALLETS_MAX = 200;
const UNKNOWN_MAX = 500;

interface ProviderParts {
  checkouts: CheckoutParts;
  chains: readonly Chain[];
  rules: OrderRules;
  /** Called when a new transfer is in the database. */
  onQueued: (transfer: Transfer) => void;
}

export function createProvider(parts: ProviderParts): OnchainProvider {
  return { ...answerTransfers(parts), ...answerUnknown(parts), ...answerCheckouts(parts) };
}

function answerTransfers({ checkouts: { db }, chains, rules, onQueued }: ProviderParts) {
  return {
    async submitTransfer(order) {
      const submission = await submitTransfer(db, rules, order);
      if (submission.kind === 'refused') throw refusal(submission.code);
      if (submission.kind === 'conflict') throw refusal('client_reference_conflict');
      const { transfer, isNew } = submission;
      if (isNew) onQueued(transfer);
      return { transfer: viewTransfer(transfer), isNew };
    },

    async findTransfer(mode, reference) {
      const transfer = await findTransfer(db, mode, reference);
      return transfer === null ? null : viewTransfer(transfer);
    },

    async listTransfers(mode, query) {
      return (await listTransfers(db, mode, query)).map(viewTransfer);
    },

    async estimateFee(mode, asset, name) {
      const chain = chains.find(({ network }) => network.mode === mode && network.name === name);
      const decimals = chain === undefined ? null : sendableDecimals(chain.network, asset);
      const fee = chain === undefined ? null : await estimateFee(chain, asset);
      if (fee === null || decimals === null) throw refusal('asset_not_supported');
      if (fee === 'no_price') throw refusal('price_not_configured');
      return { fee, decimals };
    },
  } satisfies Partial<OnchainProvider>;
}

/** Alarms, balances, and transactions that belong to no order. */
function answerUnknown({ checkouts: { db }, chains }: ProviderParts) {
  const networksOf = (mode: Mode) =>
    chains.map(({ network }) => network).filter((one) => one.mode === mode);
  return {
    async listAlarms(mode) {
      const networks = networksOf(mode);
      const open = (await listAlarms(db)).flatMap(
        ({ id, chain_id, kind, subject, detail, raised_at }) => {
          const network = networks.find(({ chainId }) => chainId === chain_id);
          if (network === undefined) return [];
          return [
            { id, kind, network: network.name, subject, detail, raisedAt: new Date(raised_at) },
          ];
        },
      );
      return open.slice(0, ALARMS_MAX);
    },

    /** A network of which no node answers is left out. */
    async listWallets(mode) {
      const own = chains.filter(({ network }) => network.mode === mode);
      const lists = own.map(async (chain) =>
        (await readHotWallets(db, chain)).flatMap(({ address, floats }) =>
          floats.map(({ asset, balance, minimum }) => ({
            ...{ network: chain.network.name, address, asset, balance, minimum },
            paysFees: asset === chain.network.native.asset,
          })),
        ),
      );
      return (await Promise.all(lists)).flat().slice(0, WALLETS_MAX);
    },

    async listUnknownTransactions(mode) {
      const lists = networksOf(mode).map(async ({ chainId, name }) =>
        (await listUnknownTransactions(db, chainId)).map((txHash) => ({ network: name, txHash })),
      );
      return (await Promise.all(lists)).flat().slice(0, UNKNOWN_MAX);
    },

    async claimTransaction(order, txHash) {
      const chain = chains.find(
        ({ network }) => network.mode === order.mode && network.name === order.network,
      );
      if (chain === undefined) throw refusal('unknown_transaction_not_found');
      const claim = await claimTransaction(db, chain, order, txHash);
      if (claim.kind === 'not_unknown') throw refusal('unknown_transaction_not_found');
      if (claim.kind === 'refused') throw refusal(claim.code);
      if (claim.kind === 'conflict') throw refusal('client_reference_conflict');
      return viewTransfer(claim.transfer);
    },
  } satisfies Partial<OnchainProvider>;
}

function answerCheckouts({ checkouts }: ProviderParts) {
  const { db } = checkouts;
  const view = (facts: CheckoutFacts): CheckoutView =>
    viewCheckout(facts, checkouts.pageUrl(facts.checkout.id));
  return {
    async openCheckout(order) {
      const opening = await openCheckout(checkouts, order);
      if (opening.kind === 'refused') throw refusal(opening.reason);
      return { checkout: view(opening.facts), isNew: opening.isNew };
    },

    async findCheckout(mode, reference) {
      const facts = await findCheckout(db, mode, reference);
      return facts === null ? null : view(facts);
    },

    async listCheckouts(mode, query) {
      return (await listCheckouts(db, mode, query)).map(view);
    },

    async takeStep(mode, reference, step) {
      const facts = await findCheckout(db, mode, reference);
      if (facts === null) return null;
      const outcome = await takeStep(checkouts, facts.checkout.id, step);
      if (outcome.kind === 'refused') throw refusal(outcome.reason);
      return view(outcome.facts);
    },
  } satisfies Partial<OnchainProvider>;
}
