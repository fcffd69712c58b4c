/**
 * Floods of `npm run bench -- --overload` that the gateway has stored: schedules that nothing pays for, and payouts
 * that wait. Beside them a live batch of another merchant, and a payout of it that only the sweep of waiting payouts
 * can wake.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnGateway } from '../support/servers/gateway';
import { createKey, type Merchant } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';

const SCHEDULES = 300;
const SCHEDULED_ROWS = 100;
const WAITING_PAYOUTS = 200_000;
const COPIED_AT_ONCE = 10_000;
const BATCH_ROWS = 20;
const GIVE_UP_MS = 120_000;

/** Each is due every 5 seconds. The API accepts fewer of one account. */
export async function storeSchedules(gateway: OwnGateway, { testKey }: Merchant): Promise<void> {
  const payouts = Array.from({ length: SCHEDULED_ROWS }, () => buildPayout());
  const body = { reference: randomKey(), interval_seconds: 60, payouts };
  const id = await create(new MerchantClient(gateway.baseUrl, testKey), '/payout_schedules', body);
  await copy(gateway, 'payout_schedules', id, SCHEDULES - 1, { interval_seconds: 5 });
}

export async function endSchedules({ db }: OwnGateway): Promise<void> {
  await db.query(`UPDATE payout_schedules SET status = 'ended', ended_at = clock_timestamp()`);
}

/** Each waits for a key that never approves it. The ledger has no reservation of the copies, so it is not checked. */
export async function storeWaitingPayouts(gateway: OwnGateway, merchant: Merchant): Promise<void> {
  const { db, temporal } = gateway;
  await temporal.schedule.getHandle('ledger-check').pause();
  const id = await createWaiting(gateway, merchant);
  await copy(gateway, 'payouts', id, WAITING_PAYOUTS - 1);
  // They have waited for long: the sweep has looked at each, and looks again.
  const looked = { looked_at: new Date(Date.now() - 120_000) };
  await copy(gateway, 'payout_conditions', id, WAITING_PAYOUTS - 1, looked);
  for (const table of ['payouts', 'payout_conditions']) await db.query(`VACUUM ANALYZE ${table}`);
}

export async function watchStored(gateway: OwnGateway, merchant: Merchant): Promise<string> {
  const [closed, woken] = await Promise.all([
    seconds(() => closeBatch(gateway, merchant)),
    seconds(() => wakePayout(gateway, merchant)),
  ]);
  return `live batch closed after ${closed}, waiting payout woken after ${woken}`;
}

/** @returns a function that says whether it is closed */
async function closeBatch({ baseUrl, temporal }: OwnGateway, { liveKey }: Merchant) {
  const client = new MerchantClient(baseUrl, liveKey);
  const payouts = Array.from({ length: BATCH_ROWS }, () => buildPayout());
  const id = await create(client, '/payout_batches', { reference: randomKey(), payouts });
  const read = async () => (await client.get(`/payout_batches/${id}`)).json.data;
  const manifest = (await read()).manifest_sha256 as string;
  await temporal.workflow.getHandle(id).signal('approve', { by: 'bench', manifest });
  return async () => (await read()).closed_at !== null;
}

/** Its approval is stored without a message to its workflow. @returns a function that says whether it is awake */
async function wakePayout(gateway: OwnGateway, merchant: Merchant) {
  const { db } = gateway;
  const id = await createWaiting(gateway, merchant);
  await db.query(
    `INSERT INTO payout_approvals (payout_id, api_key_id, request_id)
     SELECT payout_id, parameters ->> 'api_key', 'bench' FROM payout_conditions WHERE payout_id = ?`,
    [id],
  );
  return async () =>
    (await db.query('SELECT FROM payouts WHERE id = ? AND NOT awaits_release', [id])).length > 0;
}

/** It waits for a key of its own. */
async function createWaiting(
  { baseUrl, db, pepper }: OwnGateway,
  { accountId, testKey }: Merchant,
): Promise<string> {
  await createKey(db, pepper, { accountId, mode: 'test' });
  const [key] = await db.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = ? ORDER BY created_at DESC LIMIT 1',
    [accountId],
  );
  const body = buildPayout({ release: { approval_by_key: key?.id } });
  return create(new MerchantClient(baseUrl, testKey), '/payouts', body);
}

/** @returns how long it takes from the return of `begin` until its function says true */
async function seconds(begin: () => Promise<() => Promise<boolean>>): Promise<string> {
  const isDone = await begin();
  const start = performance.now();
  while (!(await isDone())) {
    if (performance.now() - start > GIVE_UP_MS) return `more than ${GIVE_UP_MS / 1_000} s`;
    await sleep(100);
  }
  return `${((performance.now() - start) / 1_000).toFixed(1)} s`;
}

async function create(client: MerchantClient, path: string, body: unknown): Promise<string> {
  const { status, json, text } = await client.post(path, body, { 'idempotency-key': randomKey() });
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text.slice(0, 200)}`);
  return json.data.id;
}

/** Inserts copies of a row, whose id and reference end in a number. */
async function copy(
  { db }: OwnGateway,
  table: 'payouts' | 'payout_conditions' | 'payout_schedules',
  id: string,
  count: number,
  changes: object = {},
): Promise<void> {
  const [columns] = await db.query<{ names: string }>(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ? AND is_generated = 'NEVER'`,
    [table],
  );
  for (let first = 1; first <= count; first += COPIED_AT_ONCE) {
    const last = Math.min(count, first + COPIED_AT_ONCE - 1);
    await db.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query(
        `INSERT INTO ${table} (${columns?.names}) SELECT ${columns?.names} FROM (
           SELECT r.* FROM ${table} t CROSS JOIN generate_series(?::int, ?::int) AS n
            CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object('id', ? || '-' || n,
              'payout_id', ? || '-' || n, 'reference', ? || '-' || n) || ?::jsonb) AS r
            WHERE t.${table === 'payout_conditions' ? 'payout_id' : 'id'} = ?) copies`,
        [first, last, id, id, id, JSON.stringify(changes), id],
      );
    });
  }
}
