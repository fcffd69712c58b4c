/**
 * The on-chain provider: a REST API with a bearer key. Everything but its definite answers is
 * `unknown`, because a wrong `refused` would return money that was sent (decisions/payouts#payouts-in-doubt).
 */
import {
  acceptIfSameOrder,
  readAmount,
  readIsoTime,
  readList,
  readSmallCount,
  readStatementPage,
  readText,
} from '../answer-reader';
import type { ProviderDefinition } from '../definition';
import type {
  AlarmsResult,
  FeeEstimate,
  FindResult,
  PayoutOrder,
  Provider,
  ProviderCapabilities,
  ProviderModeConfig,
  StatementPage,
  StatementQuery,
  SubmitResult,
  UnknownTransactionsResult,
  WalletsResult,
} from '../port';
import type { CallProvider } from '../provider-http';
import {
  NOT_UNDERSTOOD,
  readOnchainAlarm,
  readOnchainWallet,
  readOnchainCheckoutMembers,
  readOnchainErrorCode,
  readOnchainTransfer,
  readOnchainTransferMembers,
  readOnchainTransferRefusal,
  unclear,
} from './answers';
import { readOnchainCallback } from './callback';
import { createOnchainCheckouts } from './checkouts';

export const ONCHAIN = {
  code: 'onchain_provider',
  variablePrefix: 'ONCHAIN',
  create: createOnchainProvider,
} as const satisfies ProviderDefinition;

/** Specification, "Destinations per provider"; decisions/money#capabilities. */
const CAPABILITIES = {
  pay_in: true,
  pay_out: true,
  destination_types: ['crypto_address'],
  network_required: true,
  memo_supported: true,
  network_fee_estimate: true,
  tx_hash: true,
  refunds: true,
  refund_destination_types: ['crypto_address'],
  // Anybody with the address can send any amount, and more than once.
  partial_payments: true,
  // The provider watches a checkout's address for this long unless the order sets a shorter time.
  checkout_ttl_seconds: 3_600,
} as const satisfies ProviderCapabilities;

function createOnchainProvider(config: ProviderModeConfig, call: CallProvider): Provider {
  const base = `${config.baseUrl}/v1`;
  const headers = {
    authorization: `Bearer ${config.apiKey}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  return {
    code: ONCHAIN.code,
    name: 'On-chain',
    capabilities: CAPABILITIES,

    async estimateNetworkFee(currency, network): Promise<FeeEstimate> {
      const query = new URLSearchParams({ asset: currency, network });
      const url = `${base}/fee-estimates?${query.toString()}`;
      const answer = await call({ method: 'GET', url, headers });
      if (answer.kind !== 'answer') return answer;
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const fee = readAmount(answer.body, 'fee');
      const isOurs =
        readText(answer.body, 'asset') === currency &&
        readText(answer.body, 'network') === network &&
        readText(answer.body, 'fee_asset') === currency;
      const decimals = readSmallCount(answer.body, 'decimals') ?? null;
      return fee !== undefined && isOurs ? { kind: 'estimate', fee, decimals } : NOT_UNDERSTOOD;
    },

    async submitPayout(order): Promise<SubmitResult> {
      const body = JSON.stringify(presentOrder(order));
      const answer = await call({ method: 'POST', url: `${base}/transfers`, headers, body });
      if (answer.kind !== 'answer') return answer;
      const refusal = readOnchainTransferRefusal(answer.status, answer.body);
      if (refusal !== undefined) return { kind: 'refused', reason: refusal };
      if (answer.status !== 200 && answer.status !== 201) {
        return unclear(answer.status, answer.body);
      }
      const transfer = readOnchainTransfer(answer.body);
      return transfer === undefined ? NOT_UNDERSTOOD : acceptIfSameOrder(order, transfer);
    },

    async findPayout(reference): Promise<FindResult> {
      const url = `${base}/transfers/${encodeURIComponent(reference)}`;
      const answer = await call({ method: 'GET', url, headers });
      if (answer.kind !== 'answer') return answer;
      // A 404 alone may come from a proxy or a wrong URL; only the code comes from the provider.
      const code = readOnchainErrorCode(answer.body);
      if (answer.status === 404 && code === 'transfer_not_found') return { kind: 'not_found' };
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const transfer = readOnchainTransfer(answer.body);
      return transfer?.reference === reference ? { kind: 'found', transfer } : NOT_UNDERSTOOD;
    },

    async listAlarms(): Promise<AlarmsResult> {
      const answer = await call({ method: 'GET', url: `${base}/alarms`, headers });
      if (answer.kind !== 'answer') return answer;
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const alarms = readList(answer.body, 'alarms', readOnchainAlarm);
      return alarms === undefined ? NOT_UNDERSTOOD : { kind: 'alarms', alarms };
    },

    async listWallets(): Promise<WalletsResult> {
      const answer = await call({ method: 'GET', url: `${base}/wallets`, headers });
      if (answer.kind !== 'answer') return answer;
      // The operation is younger than the others, and optional.
      if (answer.status === 404) return { kind: 'wallets', wallets: [] };
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const found = readList(answer.body, 'wallets', readOnchainWallet);
      if (found === undefined) return NOT_UNDERSTOOD;
      return { kind: 'wallets', wallets: found.map(({ id: _id, ...wallet }) => wallet) };
    },

    async listUnknownTransactions(): Promise<UnknownTransactionsResult> {
      const answer = await call({ method: 'GET', url: `${base}/unknown-transactions`, headers });
      if (answer.kind !== 'answer') return answer;
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const found = readList(answer.body, 'unknown_transactions', (shown) => {
        const id = readText(shown, 'tx_hash');
        return id === undefined ? undefined : { id };
      });
      return found === undefined
        ? NOT_UNDERSTOOD
        : { kind: 'transactions', hashes: found.map(({ id }) => id) };
    },

    async claimTransaction(order, txHash): Promise<FindResult> {
      const url = `${base}/unknown-transactions/${encodeURIComponent(txHash)}`;
      const body = JSON.stringify(presentOrder(order));
      const answer = await call({ method: 'POST', url, headers, body });
      if (answer.kind !== 'answer') return answer;
      const code = readOnchainErrorCode(answer.body);
      const isRefused = answer.status === 422 || answer.status === 409;
      if (code === 'unknown_transaction_not_found' || (isRefused && code !== undefined)) {
        return { kind: 'not_found' };
      }
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const transfer = readOnchainTransfer(answer.body);
      return transfer?.reference === order.reference ? { kind: 'found', transfer } : NOT_UNDERSTOOD;
    },

    ...createOnchainCheckouts(base, headers, call),
    ...createStatements(base, headers, call),

    readCallback: (callbackHeaders, rawBody) =>
      readOnchainCallback(config.callbackSecret, callbackHeaders, rawBody),
  };
}

function presentOrder(order: PayoutOrder): Record<string, unknown> {
  return {
    client_reference: order.reference,
    asset: order.currency,
    network: order.network,
    amount: order.amount,
    destination: { address: order.destination.value, memo: order.destination.memo },
    ...(order.beneficiary == null ? {} : { beneficiary: order.beneficiary }),
  };
}

/** A checkout is larger than a transfer, and the size of an answer is limited. */
const TRANSFERS_PER_PAGE = 200;
const CHECKOUTS_PER_PAGE = 50;

function createStatements(
  base: string,
  headers: Record<string, string>,
  call: CallProvider,
): Pick<Provider, 'listPayouts' | 'listCheckouts'> {
  const list = async <Entry extends { providerId: string }>(
    name: string,
    limit: number,
    { changedFrom, cursor }: StatementQuery,
    entry: (shown: unknown) => Entry | undefined,
  ): Promise<StatementPage<Entry>> => {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(changedFrom === null ? {} : { updated_from: changedFrom.toISOString() }),
      ...(cursor === null ? {} : { cursor }),
    });
    const answer = await call({
      method: 'GET',
      url: `${base}/${name}?${query.toString()}`,
      headers,
    });
    if (answer.kind !== 'answer') return answer;
    if (answer.status !== 200) return unclear(answer.status, answer.body);
    const page = readStatementPage(answer.body, {
      list: name,
      cursor: 'next_cursor',
      entry,
      changedAt: (shown) => readIsoTime(shown, 'updated_at'),
    });
    return page ?? NOT_UNDERSTOOD;
  };
  return {
    listPayouts: (query) =>
      list('transfers', TRANSFERS_PER_PAGE, query, readOnchainTransferMembers),
    listCheckouts: (query) =>
      list('checkouts', CHECKOUTS_PER_PAGE, query, readOnchainCheckoutMembers),
  };
}
