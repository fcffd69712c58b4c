/**
 * Exchange Pay behind the port: signed POST calls and answers in envelopes. Called by activities
 * through the registry. Everything that is not one of the provider's definite answers is
 * `unknown`, because a wrong "refused" would give money back that is on its way (decision O6).
 */
import {
  readExchangePayRefusal,
  readExchangePayTransfer,
  readFailureCode,
  readSuccess,
  TRANSFER_NOT_FOUND_CODE,
} from './answers';
import { readExchangePayCallback } from './callback';
import { EXCHANGE_PAY_CAPABILITIES } from './capabilities';
import { createExchangePayStatements } from './statements';
import { createExchangePayCheckouts, type PostToExchangePay } from './checkouts';
import { signRequest } from './signature';
import { describeUnclear } from './unclear';
import type { FindResult, PayoutOrder, Provider, SubmitResult } from '../port';
import type { ProviderModeConfig } from '../provider-config';
import type { CallProvider } from '../provider-http';
import { acceptIfSameOrder } from '../submission-result';

export function createExchangePayProvider(
  config: ProviderModeConfig,
  call: CallProvider,
): Provider {
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
    code: 'exchange_pay',
    name: 'Exchange Pay',
    capabilities: EXCHANGE_PAY_CAPABILITIES,

    estimateNetworkFee: () =>
      Promise.resolve({ kind: 'unknown', reason: 'The provider publishes no network fee.' }),

    async submitPayout(order): Promise<SubmitResult> {
      const answer = await post('payout/transfer', presentOrder(order));
      if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
      const refusal = readExchangePayRefusal(answer.status, answer.body);
      if (refusal !== undefined) return { kind: 'refused', reason: refusal };
      const transfer = readExchangePayTransfer(readSuccess(answer.status, answer.body));
      return transfer === undefined
        ? { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) }
        : acceptIfSameOrder(order, transfer);
    },

    async findPayout(reference): Promise<FindResult> {
      const answer = await post('payout/query', { merchantTransferId: reference });
      if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
      const failure = readFailureCode(answer.status, answer.body);
      if (failure === TRANSFER_NOT_FOUND_CODE) return { kind: 'not_found' };
      const transfer = readExchangePayTransfer(readSuccess(answer.status, answer.body));
      return transfer?.reference === reference
        ? { kind: 'found', transfer }
        : { kind: 'unknown', reason: describeUnclear(answer.status, answer.body) };
    },

    ...createExchangePayCheckouts(post),
    ...createExchangePayStatements(post),

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
  };
}
