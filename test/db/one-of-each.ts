/** An account with an object of every kind that belongs to a merchant, as rows: what a list of all kinds is tried with. */
import { createHash } from 'node:crypto';
import type { Db } from '../../src/db/transaction';
import type { IdKind } from '../../src/domain/ids';
import type { Mode } from '../../src/domain/mode';
import { newId } from '../../src/platform/lib/new-id';
import { buildPayoutMoney, fund, insertPayment, insertPayout } from '../support/merchant/ledger';
import { compose } from '../support/servers/database';

export async function insertRow(db: Db, table: string, row: Record<string, unknown>) {
  await db.query(compose(table).insert(row));
}

const ORDER = { totals: '[]', api_key_id: 'k' };
const BATCH = { row_count: 1, manifest_sha256: '0'.repeat(64), review_reasons: '{}' };

/** @returns the ids, of an account that had nothing before and has 10 USDT now */
export async function makeOneOfEach(db: Db, accountId: string, mode: Mode) {
  const place = { accountId, mode, currency: 'USDT' } as const;
  const owned = { account_id: accountId, mode };
  const insert = (table: string, row: Record<string, unknown>) => insertRow(db, table, row);
  const now = new Date();
  await fund(db, place, '10');
  const [posted] = await db.query<{ transaction: string; adjustment: string }>(
    `SELECT id AS transaction, source_id AS adjustment FROM ledger_transactions WHERE account_id = ?`,
    [accountId],
  );
  const money = buildPayoutMoney('4');
  await insertPayout(db, place, money, 'requested');
  const [told] = await db.query<{ id: string }>('SELECT id FROM events WHERE object_id = ?', [
    money.id,
  ]);
  const payment = await insertPayment(db, place, 'completed');
  const kinds = ['paymentLink', 'payoutBatch', 'payoutSchedule', 'payoutScheduleRun', 'recipient'];
  const others = ['refund', 'apiKey', 'request', 'webhookEndpoint', 'webhookDelivery'];
  const ids = {
    ...Object.fromEntries([...kinds, ...others].map((kind) => [kind, newId(kind as IdKind)])),
    ...{ ...posted!, account: accountId, event: told!.id, payment, payout: money.id },
  } as Record<OwnedKind, string>;

  await insert('api_keys', {
    ...{
      id: ids.apiKey,
      ...owned,
      name: 'Key',
      secret_hash: Buffer.from(ids.apiKey),
      scopes: '{}',
    },
    ...{ display_prefix: 'sk_test_', last_four: 'abcd' },
  });
  const content = Buffer.from('logo');
  await insert('account_logos', {
    ...{ account_id: accountId, type: 'image/png', content },
    sha256: createHash('sha256').update(content).digest('hex'),
  });
  await insert('audit_log', {
    ...{ actor: 'x', via: 'dashboard', action: 'api_key.create', object: 'api_key' },
    ...{ object_id: ids.apiKey, account_id: accountId },
  });
  await insert('payment_credits', {
    ...{ payment_id: payment, provider_transfer_id: 'transfer', amount: '10', fee: '0' },
    tx_hash: `hash of ${payment}`,
  });
  await insert('payment_links', {
    ...{ id: ids.paymentLink, ...owned, user_id: 'usr_1', amount: '1', reference: 'link' },
    ...{ routes: '{USDT tron}', request: '{}', expires_at: now },
  });
  await insert('payment_refunds', {
    ...{ payment_id: payment, reference: ids.refund, merchant_reference: 'back', id: ids.refund },
    ...{ amount: '1', taken: '1', fee: '0', state: 'done' },
  });
  await insert('payout_batches', {
    ...{ id: ids.payoutBatch, ...owned, ...ORDER, ...BATCH, reference: 'b', status: 'requested' },
  });
  await insert('payout_schedules', {
    ...{ id: ids.payoutSchedule, ...owned, ...ORDER, reference: 's', interval_seconds: 60 },
    ...{ start_at: now, payouts: '[]' },
  });
  await insert('payout_schedule_runs', {
    ...{ id: ids.payoutScheduleRun, schedule_id: ids.payoutSchedule, scheduled_for: now },
    ...{ batch_id: ids.payoutBatch, status: 'created', ended_at: now },
  });
  const ofPayout = { payout_id: money.id };
  await insert('payout_beneficiaries', { ...ofPayout, sealed: Buffer.from('x'), key_id: 'k' });
  await insert('payout_conditions', { ...ofPayout, kind: 'time' });
  await insert('payout_pauses', { scope: 'account', target: accountId, reason: 'x' });
  await insert('posting_sums', {
    ...{ ...owned, currency: 'USDT', piece: 0, day: now, type: 'adjustment' },
    ...{ account: 'available', direction: 'in', amount: '10', postings: 1 },
  });
  await insert('recipients', {
    ...{ id: ids.recipient, ...owned, name: 'Ada', currency: 'USDT', created_by: 'k' },
    ...{ destination_type: 'exchange_id', destination_value: '77' },
  });
  const day = Math.floor(now.getTime() / 86_400_000);
  await insert('request_log_days', { ...owned, day, succeeded: 1, failed: 0 });
  await insert('request_log', {
    ...{ id: ids.request, day_slot: day % 9, ...owned, api_key_id: ids.apiKey, at: now },
    ...{ method: 'GET', path: '/api/v1/balance', query: '', status: 200, replayed: false },
    ...{ address: '127.0.0.1', user_agent: 'x', duration_ms: 1 },
  });
  await insert('webhook_endpoints', {
    ...{ id: ids.webhookEndpoint, ...owned, url: 'https://shop.example/' },
    ...{ secret_sealed: Buffer.from('x'), secret_key_id: 'k' },
  });
  await insert('webhook_deliveries', {
    ...{ id: ids.webhookDelivery, event_id: ids.event, endpoint_id: ids.webhookEndpoint },
    ...{ next_attempt_at: now, check_at: now },
  });
  await insert('webhook_attempts', {
    ...{ delivery_id: ids.webhookDelivery, number: 1, manual: false, status: 200 },
    ...{ url: 'https://shop.example/', outcome: 'succeeded' },
  });
  return ids;
}

export type OwnedKind =
  | 'account'
  | 'adjustment'
  | 'apiKey'
  | 'event'
  | 'payment'
  | 'paymentLink'
  | 'payout'
  | 'payoutBatch'
  | 'payoutSchedule'
  | 'payoutScheduleRun'
  | 'recipient'
  | 'refund'
  | 'request'
  | 'transaction'
  | 'webhookDelivery'
  | 'webhookEndpoint';
