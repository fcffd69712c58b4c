/**
 * The on-chain provider behind the port: a REST API with a bearer key. Called by activities
 * through the registry. Everything that is not one of the provider's definite answers is
 * `unknown`, because a wrong "refused" would give money back that is on its way (decision O6).
 */
import { readAmount, readText } from '../answer-members';
import { readOnchainCallback } from './callback';
import { ONCHAIN_CAPABILITIES } from './capabilities';
import { createOnchainStatements } from './statements';
import { createOnchainCheckouts } from './checkouts';
import { readOnchainErrorCode, readOnchainRefusal, readOnchainTransfer } from './answers';
import type { FeeEstimate, FindResult, PayoutOrder, Provider, SubmitResult } from '../port';
import type { ProviderModeConfig } from '../provider-config';
import type { CallProvider } from '../provider-http';
import { acceptIfSameOrder } from '../submission-result';
import { NOT_UNDERSTOOD, unclear } from './unclear';

export function createOnchainProvider(config: ProviderModeConfig, call: CallProvider): Provider {
  const base = `${config.baseUrl}/v1`;
  const headers = {
    authorization: `Bearer ${config.apiKey}`,
    accept: 'application/json',
    'content-type': 'application/json',
  };
  return {
    code: 'onchain_provider',
    name: 'On-chain',
    capabilities: ONCHAIN_CAPABILITIES,

    async estimateNetworkFee(currency, network): Promise<FeeEstimate> {
      const query = new URLSearchParams({ asset: currency, network });
      const url = `${base}/fee-estimates?${query.toString()}`;
      const answer = await call({ method: 'GET', url, headers });
      if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const fee = readAmount(answer.body, 'fee');
      const isOurs =
        readText(answer.body, 'asset') === currency &&
        readText(answer.body, 'network') === network &&
        readText(answer.body, 'fee_asset') === currency;
      return fee !== undefined && isOurs ? { kind: 'estimate', fee } : NOT_UNDERSTOOD;
    },

    async submitPayout(order): Promise<SubmitResult> {
      const body = JSON.stringify(presentOrder(order));
      const answer = await call({ method: 'POST', url: `${base}/transfers`, headers, body });
      if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
      const refusal = readOnchainRefusal(answer.status, answer.body);
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
      if (answer.kind === 'trouble') return { kind: 'unknown', reason: answer.reason };
      // A 404 alone may come from a proxy or a mistyped address; the code comes from the provider.
      const code = readOnchainErrorCode(answer.body);
      if (answer.status === 404 && code === 'transfer_not_found') return { kind: 'not_found' };
      if (answer.status !== 200) return unclear(answer.status, answer.body);
      const transfer = readOnchainTransfer(answer.body);
      return transfer?.reference === reference ? { kind: 'found', transfer } : NOT_UNDERSTOOD;
    },

    ...createOnchainCheckouts(base, headers, call),
    ...createOnchainStatements(base, headers, call),

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
  };
}
