/**
 * Callbacks as the providers sign them. Written from docs/sandbox.md, so that they share nothing with the
 * sandbox and the adapters; what they claim is never what the provider says itself.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Mode } from '../../../src/domain/mode';
import type { ProviderCode } from '../../../src/domain/provider-codes';
import type { TestGateway } from './gateway';

export interface Callback {
  headers: Record<string, string>;
  body: string;
}

export function callbackSecret(
  { env }: Pick<TestGateway, 'env'>,
  provider: ProviderCode,
  mode: Mode,
): string {
  const prefix = provider === 'onchain_provider' ? 'ONCHAIN' : 'EXCHANGE_PAY';
  return env[`${prefix}_${mode.toUpperCase()}_CALLBACK_SECRET`] ?? '';
}

export function signOnchain(
  message: { type: string; data: object },
  secret: string,
  atMs: number,
): Callback {
  const body = JSON.stringify({ id: 'oev_1', ...message });
  const t = Math.floor(atMs / 1000);
  const s = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return { headers: { 'Onchain-Signature': `t=${t},s=${s}` }, body };
}

export function signExchangePay(
  { data, ...message }: { bizType: string; bizStatus: string; data: object },
  secret: string,
  atMs: number,
): Callback {
  const body = JSON.stringify({ bizId: '1', ...message, data: JSON.stringify(data) });
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha512', secret)
    .update(`${atMs}\n${nonce}\n${body}\n`)
    .digest('base64');
  const headers = {
    'ExchangePay-Timestamp': String(atMs),
    'ExchangePay-Nonce': nonce,
    'ExchangePay-Signature': signature,
  };
  return { headers, body };
}

type Claim = (reference: string, secret: string, atMs?: number) => Callback;

/** That a payout was sent. */
export const PAYOUT_CLAIMS: Record<ProviderCode, Claim> = {
  onchain_provider: (reference, secret, atMs = Date.now()) => {
    const data = { object: 'transfer', client_reference: reference, status: 'confirmed' };
    return signOnchain({ type: 'transfer.updated', data }, secret, atMs);
  },
  exchange_pay: (reference, secret, atMs = Date.now()) => {
    const data = { merchantTransferId: reference, transferStatus: 'SUCCESS' };
    return signExchangePay({ bizType: 'PAYOUT', bizStatus: 'SUCCESS', data }, secret, atMs);
  },
};

/** That a payment has failed, and that a million was paid. */
export const PAYMENT_CLAIMS: Record<ProviderCode, Claim> = {
  onchain_provider: (reference, secret, atMs = Date.now()) => {
    const deposits = [{ id: 'odp_1', amount: '1000000.00000000', state: 'final' }];
    const data = { object: 'checkout', client_reference: reference, state: 'failed', deposits };
    return signOnchain({ type: 'checkout.updated', data }, secret, atMs);
  },
  exchange_pay: (reference, secret, atMs = Date.now()) => {
    const payments = [{ paymentId: 'EPP1', payAmount: '1000000', payStatus: 'SUCCESS' }];
    const data = { merchantOrderId: reference, orderStatus: 'ERROR', payments };
    return signExchangePay({ bizType: 'PAY', bizStatus: 'ERROR', data }, secret, atMs);
  },
};

/** @param path provider and mode, such as `exchange_pay/live` */
export async function deliverCallback(
  { baseUrl }: Pick<TestGateway, 'baseUrl'>,
  path: string,
  { headers, body }: Callback,
) {
  const response = await fetch(`${baseUrl.replace('/api/v1', '')}/provider-callbacks/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: JSON.parse(text) };
}
