/** Steps that the tests of payouts over HTTP share: a funded merchant, an operator, and waiting. */
import type { Mode } from '../../../src/domain/mode';
import type { PayoutStatus } from '../../../src/domain/payout';
import {
  MAGIC_ADDRESSES,
  type AddressFamily,
} from '../../../src/rails/sandbox/transfers/magic-addresses';
import type { TestGateway } from '../servers/gateway';
import { createKey, createMerchant, fund } from '../merchant/merchant';
import {
  type ApiAnswer,
  buildPayout,
  MerchantClient,
  randomKey,
} from '../merchant/merchant-client';
import { isUnavailable, retry } from '../merchant/patient-client';
import { waitFor } from '../wait-for';
import type { Scope } from '../../../src/domain/scopes';

/** What opens a merchant and looks at the database; it may have no Temporal. */
export type Opened = Pick<TestGateway, 'baseUrl' | 'db' | 'pepper'>;

export interface FundedMerchant {
  accountId: string;
  /** The client of the mode that has the funds. */
  client: MerchantClient;
  /** The same account in the other mode, without funds. */
  otherMode: MerchantClient;
}

export interface MerchantWish {
  mode?: Mode;
  /** Currency → amount. */
  funds?: Record<string, string>;
  reviewAll?: boolean;
  rehearseReview?: boolean;
}

export async function openMerchant(
  gateway: Opened,
  { mode = 'live', funds = { USDT: '20000' }, ...settings }: MerchantWish = {},
): Promise<FundedMerchant> {
  const { accountId, liveKey, testKey } = await createMerchant(
    gateway.db,
    gateway.pepper,
    settings,
  );
  for (const [currency, value] of Object.entries(funds)) {
    await fund(gateway.db, accountId, mode, currency, value);
  }
  const live = new MerchantClient(gateway.baseUrl, liveKey);
  const test = new MerchantClient(gateway.baseUrl, testKey);
  return mode === 'live'
    ? { accountId, client: live, otherMode: test }
    : { accountId, client: test, otherMode: live };
}

/** The id of a payout that was accepted: what a test begins with when it is about what follows. */
export async function acceptedPayout(
  client: MerchantClient,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const body = buildPayout(overrides);
  const key = randomKey();
  const { status, text, json } = await retry(() => client.createPayout(body, key), isUnavailable);
  if (status !== 201) throw new Error(`the payout was not accepted: ${status} ${text}`);
  return json.data.id;
}

export interface BalanceSeen {
  currency: string;
  available: string;
  reserved: string;
  pending: string;
}

export async function balanceOf(
  client: MerchantClient,
  currency = 'USDT',
): Promise<BalanceSeen | undefined> {
  const { json } = await client.get('/balance');
  return (json.balances as BalanceSeen[]).find((one) => one.currency === currency);
}

export async function available(client: MerchantClient): Promise<string | undefined> {
  return (await balanceOf(client))?.available;
}

/** What an operator types into Temporal. */
export async function approve(gateway: TestGateway, id: string): Promise<void> {
  await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'alice' });
}

export async function reject(gateway: TestGateway, id: string, reason: string): Promise<void> {
  await gateway.temporal.workflow.getHandle(id).signal('reject', { by: 'alice', reason });
}

const FINAL: PayoutStatus[] = ['completed', 'failed', 'rejected', 'cancelled'];

/** The payout once it stands in one of the statuses. */
export async function whenPayout(
  client: MerchantClient,
  id: string,
  ...wanted: PayoutStatus[]
): Promise<ApiAnswer['json']> {
  return waitFor(`${id} to be ${wanted.join(' or ')}`, async () => {
    const { json } = await client.get(`/payouts/${id}`);
    return wanted.includes(json.data?.status) ? json.data : undefined;
  });
}

export const whenFinal = (client: MerchantClient, id: string) => whenPayout(client, id, ...FINAL);

/** A destination that meets a scenario of the sandbox. */
export function magic(
  scenario: keyof typeof MAGIC_ADDRESSES,
  family: AddressFamily = 'tron',
): { type: 'crypto_address'; value: string } {
  return { type: 'crypto_address', value: MAGIC_ADDRESSES[scenario][family] };
}

/** Sends again what was answered with 409 request_in_progress or 5xx, as merchants are told to. */
export async function sendUntilAnswered(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  return waitFor('an answer that is final', async () => {
    const answer = await send();
    const again = answer.status >= 500 || answer.json.error?.code === 'request_in_progress';
    return again ? undefined : answer;
  });
}

export async function countPayouts(
  gateway: Pick<Opened, 'db'>,
  accountId: string,
): Promise<number> {
  const [row] = await gateway.db.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM payouts WHERE account_id = ?',
    [accountId],
  );
  return row!.n;
}

/** What is stored of an account's idempotency keys: the states, by key. */
export async function keyStates(
  gateway: Pick<Opened, 'db'>,
  accountId: string,
): Promise<Record<string, string>> {
  const found = await gateway.db.query<{ key: string; state: string }>(
    'SELECT key, state FROM idempotency_keys WHERE account_id = ?',
    [accountId],
  );
  return Object.fromEntries(found.map(({ key, state }) => [key, state]));
}

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
