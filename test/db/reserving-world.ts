/**
 * Reservations without workflows: the test claims the request, as the API does, and calls the activity
 * that reserves its money.
 */
import { reserveRefund } from '../../activities/payment/reserve-refund';
import { reservePayout } from '../../activities/payout/reserve';
import { reservePayoutBatch } from '../../activities/payout-batch/reserve';
import type { Deps } from '../../activities/deps';
import { claimKey, type ClaimedRequest } from '../../src/db/idempotency';
import type { Db } from '../../src/db/transaction';
import type { KeyLimit } from '../../src/domain/limits';
import type { Mode } from '../../src/domain/mode';
import { amount } from '../../src/domain/money';
import type { PayoutRequest } from '../../src/domain/payout';
import { SCOPES } from '../../src/domain/scopes';
import { newId } from '../../src/platform/lib/new-id';

const ROUTE = { provider: 'onchain_provider', network: 'tron', networkFee: amount('1') } as const;
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export interface Requester {
  accountId: string;
  mode: Mode;
  apiKeyId: string;
}

interface AskedPayout {
  amount: string;
  currency?: string;
  reference?: string;
  destination?: string;
}

/** A key of two days, so that its age alone asks for no review. */
export async function openKey(
  db: Db,
  { accountId, mode = 'test' }: { accountId: string; mode?: Mode },
  limits: Record<string, KeyLimit> = {},
): Promise<Requester> {
  const apiKeyId = newId('apiKey');
  await db.query(
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four, scopes,
                           payout_limits, created_at)
     VALUES (?, ?, ?, 'test', decode(md5(?), 'hex'), 'test', 'test', ?::text[], ?::jsonb,
             now() - interval '2 days')`,
    [apiKeyId, accountId, mode, apiKeyId, [...SCOPES], JSON.stringify(limits)],
  );
  return { accountId, mode, apiKeyId };
}

export async function setDailyLimit(
  db: Db,
  accountId: string,
  currency: string,
  dailyMax: string,
): Promise<void> {
  await db.query('INSERT INTO payout_policies (account_id, currency, daily_max) VALUES (?, ?, ?)', [
    accountId,
    currency,
    dailyMax,
  ]);
}

export function askedPayout(asked: AskedPayout): PayoutRequest {
  return {
    amount: amount(asked.amount),
    currency: asked.currency ?? 'USDT',
    reference: asked.reference ?? newId('request'),
    destination: { type: 'crypto_address', value: asked.destination ?? ADDRESS, memo: null },
    network: null,
    provider: null,
    description: null,
    metadata: {},
  };
}

async function claim(
  db: Db,
  { accountId, mode, apiKeyId }: Requester,
  objectId: string,
  { request, route }: Omit<ClaimedRequest<object, object>, 'apiKeyId'>,
): Promise<void> {
  const bodyHashes = [Buffer.from(objectId)] as const;
  const claimed = { apiKeyId, request, route };
  const held = await claimKey(
    db,
    { accountId, mode, key: objectId },
    { objectId, bodyHashes, claimed },
  );
  if (held.kind !== 'claimed') throw new Error(`the key of ${objectId} is ${held.kind}`);
}

/** @returns the reservation, which is safe to run again */
export async function claimPayout(
  db: Db,
  by: Requester,
  asked: AskedPayout,
  payoutId = newId('payout'),
) {
  await claim(db, by, payoutId, { request: askedPayout(asked), route: ROUTE });
  return (deps: Deps) => reservePayout(deps, { payoutId });
}

export async function claimBatch(
  db: Db,
  by: Requester,
  asked: readonly AskedPayout[],
  batchId = newId('payoutBatch'),
) {
  const request = { reference: batchId, description: null, payouts: asked.map(askedPayout) };
  await claim(db, by, batchId, { request, route: { rows: asked.map(() => ROUTE) } });
  return (deps: Deps) => reservePayoutBatch(deps, { batchId });
}

export async function claimRefund(
  db: Db,
  by: Requester,
  asked: { paymentId: string; amount: string | null },
  refundId = newId('refund'),
) {
  const value = asked.amount === null ? null : amount(asked.amount);
  const { paymentId } = asked;
  const request = {
    paymentId,
    amount: value,
    reference: refundId,
    reason: null,
    destination: null,
  };
  await claim(db, by, refundId, { request, route: {} });
  return (deps: Deps, of = paymentId) => reserveRefund(deps, of, refundId);
}
