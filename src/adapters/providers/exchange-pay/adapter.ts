/**
 * Exchange Pay: signed POST calls and answers in envelopes. Everything but its definite answers is
 * `unknown`, because a wrong `refused` would return money that was sent (decisions/payouts#payouts-in-doubt).
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { acceptIfSameOrder, readStatementPage, readUnixTimeMs } from '../answer-reader';
import type { ProviderDefinition } from '../definition';
import type {
  FindResult,
  PayoutOrder,
  Provider,
  ProviderCapabilities,
  ProviderModeConfig,
  StatementPage,
  StatementQuery,
  SubmitResult,
} from '../port';
import type { CallProvider } from '../provider-http';
import {
  describeUnclear,
  readExchangePayOrder,
  readExchangePayTransfer,
  readFailureCode,
  readSuccess,
  readTransferRefusal,
  TRANSFER_NOT_FOUND_CODE,
} from './answers';
import { readExchangePayCallback } from './callback';
import { createExchangePayCheckouts, type PostToExchangePay } from './checkouts';
import { wallClockMs } from '../../../platform/lib/wall-clock';

export const EXCHANGE_PAY = {
  code: 'exchange_pay',
  variablePrefix: 'EXCHANGE_PAY',
  create: createExchangePayProvider,
} as const satisfies ProviderDefinition;

/** Specification, "Destinations per provider"; decisions/money#currencies and decisions/money#capabilities. */
const CAPABILITIES = {
  pay_in: true,
  pay_out: true,
  // Internal transfers between exchange accounts: no chain, so no network, memo, fee or hash.
  destination_types: ['exchange_id', 'email'],
  network_required: false,
  memo_supported: false,
  network_fee_estimate: false,
  tx_hash: false,
  refunds: true,
  refund_destination_types: [],
  // The customer confirms an order of one exact amount, or none.
  partial_payments: false,
  // The provider sets no time limit of its own: an order is opened with that of the payment.
  checkout_ttl_seconds: null,
} as const satisfies ProviderCapabilities;

function createExchangePayProvider(config: ProviderModeConfig, call: CallProvider): Provider {
  const post: PostToExchangePay = (path, members, limit) => {
    const body = JSON.stringify(members);
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      ...signRequest(config.apiKey, body),
    };
    const url = `${config.baseUrl}/openapi/v1/${path}`;
    return call({ method: 'POST', url, headers, body, ...limit });
  };
  return {
    code: EXCHANGE_PAY.code,
    name: 'Exchange Pay',
    capabilities: CAPABILITIES,

    estimateNetworkFee: () =>
      Promise.resolve({ kind: 'unknown', reason: 'The provider publishes no network fee.' }),

    // The provider has none.
    listAlarms: () => Promise.resolve({ kind: 'alarms', alarms: [] }),
    listWallets: () => Promise.resolve({ kind: 'wallets', wallets: [] }),
    listUnknownTransactions: () => Promise.resolve({ kind: 'transactions', hashes: [] }),
    claimTransaction: () => Promise.resolve({ kind: 'not_found' }),

    async submitPayout(order): Promise<SubmitResult> {
      const answer = await post('payout/transfer', presentOrder(order));
      if (answer.kind !== 'answer') return answer;
      const refusal = readTransferRefusal(answer.status, answer.body);
      if (refusal !== undefined) return { kind: 'refused', reason: refusal };
      const transfer = readExchangePayTransfer(readSuccess(answer.status, answer.body));
      return transfer === undefined
        ? { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) }
        : acceptIfSameOrder(order, transfer);
    },

    async findPayout(reference): Promise<FindResult> {
      const answer = await post('payout/query', { merchantTransferId: reference });
      if (answer.kind !== 'answer') return answer;
      const failure = readFailureCode(answer.status, answer.body);
      if (failure === TRANSFER_NOT_FOUND_CODE) return { kind: 'not_found' };
      const transfer = readExchangePayTransfer(readSuccess(answer.status, answer.body));
      return transfer?.reference === reference
        ? { kind: 'found', transfer }
        : { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) };
    },

    ...createExchangePayCheckouts(post),
    ...createStatements(post),

    readCallback: (headers, rawBody) =>
      readExchangePayCallback(config.callbackSecret, headers, rawBody),
  };
}

function presentOrder(order: PayoutOrder): Record<string, unknown> {
  return {
    merchantTransferId: order.reference,
    currency: order.currency,
    transferAmount: order.amount,
    recipientType: order.destination.type,
    recipient: order.destination.value,
    ...(order.beneficiary == null ? {} : { beneficiary: order.beneficiary }),
  };
}

/**
 * HMAC-SHA512 with the API key over `timestamp\nnonce\nbody\n`. The key is never sent; the first 16
 * hex digits of its SHA-256 identify it.
 */
function signRequest(apiKey: string, body: string): Record<string, string> {
  const timestamp = String(wallClockMs());
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha512', apiKey).update(`${timestamp}\n${nonce}\n${body}\n`);
  return {
    'exchangepay-key-id': createHash('sha256').update(apiKey).digest('hex').slice(0, 16),
    'exchangepay-timestamp': timestamp,
    'exchangepay-nonce': nonce,
    'exchangepay-signature': signature.digest('hex').toUpperCase(),
  };
}

function createStatements(
  post: PostToExchangePay,
): Pick<Provider, 'listPayouts' | 'listCheckouts'> {
  const list = async <Entry extends { providerId: string }>(
    path: string,
    { changedFrom, cursor }: StatementQuery,
    entry: (shown: unknown) => Entry | undefined,
  ): Promise<StatementPage<Entry>> => {
    const answer = await post(path, { updateTimeFrom: changedFrom?.getTime() ?? null, cursor });
    if (answer.kind !== 'answer') return answer;
    const page = readStatementPage(readSuccess(answer.status, answer.body), {
      list: 'list',
      cursor: 'cursor',
      entry,
      changedAt: (shown) => readUnixTimeMs(shown, 'updateTime'),
    });
    return page ?? { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) };
  };
  return {
    listPayouts: (query) => list('payout/list', query, readExchangePayTransfer),
    listCheckouts: (query) => list('order/list', query, readExchangePayOrder),
  };
}
