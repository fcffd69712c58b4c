/** More API keys of a merchant, which a payout can name as the one that releases it. */
import type { Mode } from '../../../src/domain/mode';
import type { Scope } from '../../../src/domain/scopes';
import { createKey } from '../merchant/merchant';
import { MerchantClient } from '../merchant/merchant-client';
import { type FundedMerchant, type MerchantWish, type Opened, openMerchant } from './payout-steps';

export interface NamedKey {
  second: MerchantClient;
  secondKey: string;
}

export async function addKey(
  gateway: Opened,
  key: { accountId: string; mode: Mode; scopes?: readonly Scope[] },
): Promise<NamedKey> {
  const secret = await createKey(gateway.db, gateway.pepper, key);
  const [stored] = await gateway.db.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = ? AND mode = ? ORDER BY id DESC LIMIT 1',
    [key.accountId, key.mode],
  );
  return { second: new MerchantClient(gateway.baseUrl, secret), secondKey: stored!.id };
}

export async function setKey(gateway: Pick<Opened, 'db'>, id: string, sql: string): Promise<void> {
  await gateway.db.query(`UPDATE api_keys SET ${sql} WHERE id = ?`, [id]);
}

export type MerchantWithTwoKeys = FundedMerchant & NamedKey;

/** A merchant with another key in the mode that has the funds. */
export async function openWithTwoKeys(
  gateway: Opened,
  wish: MerchantWish = {},
): Promise<MerchantWithTwoKeys> {
  const merchant = await openMerchant(gateway, wish);
  const { accountId } = merchant;
  return { ...merchant, ...(await addKey(gateway, { accountId, mode: wish.mode ?? 'live' })) };
}

export const release = (client: MerchantClient, id: string) =>
  client.post(`/payouts/${id}/release`);
export const cancel = (client: MerchantClient, id: string) => client.post(`/payouts/${id}/cancel`);
export const read = async (client: MerchantClient, id: string) =>
  (await client.get(`/payouts/${id}`)).json.data;
