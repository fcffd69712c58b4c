/** Steps that the tests of refunds share: asking for one, and payments whose payer nobody knows. */
import { type ApiAnswer, randomKey } from '../merchant/merchant-client';
import { isUnavailable, retry } from '../merchant/patient-client';
import { openMerchant } from '../payout/payout-steps';
import { atProvider, openedPayment, type Opened, type Payable, whenPayment } from './payment-steps';

/** Where a refund of a payment on a chain goes. */
export const ADDRESS = { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' };

export function refund(
  { client, id }: Pick<Opened, 'client' | 'id'>,
  body: Record<string, unknown> = {},
  key = randomKey(),
): Promise<ApiAnswer> {
  const request = { reference: `refund-${randomKey()}`, ...body };
  const send = () => client.create(`/payments/${id}/refunds`, request, key);
  return retry(send, isUnavailable);
}

/** A refund that was accepted. */
export async function refunded(payment: Opened, body: Record<string, unknown> = {}) {
  const { status, text, json } = await refund(payment, body);
  if (status !== 201) throw new Error(`the refund was answered with ${status} ${text}`);
  return json.data;
}

/** The refunds of a payment, newest first. */
export async function refundsOf(
  { client, id }: Opened,
  query = '',
): Promise<Record<string, unknown>[]> {
  const { json } = await client.get(`/payments/${id}/refunds${query}`);
  return json.data;
}

/** Paid on a chain, which does not say who paid. */
export async function paidOnChain(
  gateway: Payable,
  mode: 'test' | 'live',
  overrides: Record<string, unknown> = {},
) {
  const { accountId, client } = await openMerchant(gateway, { mode, funds: {} });
  const id = await openedPayment(client, { provider: 'onchain_provider', ...overrides });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  const key = (change: string) =>
    gateway.db.query(`UPDATE api_keys SET ${change} WHERE account_id = ? AND mode = ?`, [
      accountId,
      mode,
    ]);
  return { accountId, client, id, key };
}
