/** A merchant is told when deliveries were skipped, and before they cannot be sent any more. */
import { asAccount } from '../../../src/db/as-account';
import { listDeliveryWarnings } from '../../../src/db/webhooks/delivery-warnings';
import { idAt, isId } from '../../../src/domain/ids';
import type { Mode } from '../../../src/domain/mode';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import { makeAccount } from '../../support/merchant/ledger';
import { started } from '../../support/started';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-25T12:00:00Z');

const database = started(() => openTestDatabase({ owner: 1, dashboard: 1 }));
let accountId: string;

beforeAll(async () => {
  accountId = await makeAccount(database.owner);
});

async function makeEndpoint(ofAccount: string, mode: Mode): Promise<string> {
  const id = newId('webhookEndpoint');
  await database.owner.query(
    `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
     VALUES (?, ?, ?, 'https://shop.example.com/hooks', '', '')`,
    [id, ofAccount, mode],
  );
  return id;
}

interface Made {
  daysAgo: number;
  status: 'failed' | 'skipped' | 'succeeded' | 'abandoned';
  error?: string;
  bodyKept?: boolean;
}

let made = 0;

async function deliver(endpointId: string, delivery: Made): Promise<void> {
  const { daysAgo, status, error = null, bodyKept = true } = delivery;
  const at = new Date(NOW.getTime() - daysAgo * DAY_MS);
  const unique = String((made += 1)).padStart(4, '0');
  const eventId = idAt('event', at).slice(0, -4) + unique;
  await database.owner.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
     SELECT ?, account_id, mode, 'payout.completed', ?, 1, ?, ? FROM webhook_endpoints WHERE id = ?`,
    [eventId, newId('payout'), bodyKept ? Buffer.from('{}') : null, at, endpointId],
  );
  await database.owner.query(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, last_error, check_at,
                                     created_at, finished_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [eventId.replace('evt_', 'whd_'), eventId, endpointId, status, error, at, at, at],
  );
}

const warnings = (mode: Mode, account = accountId) =>
  listDeliveryWarnings(
    asAccount(database.dashboard, account),
    { accountId: account, mode },
    NOW,
    (time) => idAt('webhookDelivery', time),
  );

test('the smallest id of a time is not above the ids that are made then', () => {
  const now = new Date();
  const made = newId('webhookDelivery');
  expect(isId('webhookDelivery', idAt('webhookDelivery', now))).toBe(true);
  expect(idAt('webhookDelivery', now) <= made).toBe(true);
  expect(idAt('webhookDelivery', new Date(now.getTime() + 60_000)) > made).toBe(true);
});

test('nothing is said about an endpoint that does well, or that failed a while ago', async () => {
  const endpoint = await makeEndpoint(accountId, 'live');
  await deliver(endpoint, { daysAgo: 1, status: 'failed', error: 'http_5xx' });
  await deliver(endpoint, { daysAgo: 20, status: 'failed', error: 'http_5xx' });
  await deliver(endpoint, { daysAgo: 28, status: 'succeeded' });
  await deliver(endpoint, { daysAgo: 28, status: 'abandoned' });
  await deliver(endpoint, { daysAgo: 28, status: 'failed', bodyKept: false });
  await deliver(endpoint, { daysAgo: 2, status: 'skipped', error: 'endpoint_gone' });
  expect(await warnings('live')).toEqual([]);
});

test('skipped deliveries and those that can soon not be sent any more are counted for their endpoint', async () => {
  const endpoint = await makeEndpoint(accountId, 'test');
  const url = 'https://shop.example.com/hooks';
  await deliver(endpoint, { daysAgo: 1, status: 'skipped', error: 'too_many_open' });
  await deliver(endpoint, { daysAgo: 2, status: 'skipped', error: 'too_many_open' });
  expect(await warnings('test')).toEqual([{ endpointId: endpoint, url, skipped: 2, expiring: 0 }]);
  await deliver(endpoint, { daysAgo: 28, status: 'failed', error: 'http_5xx' });
  await deliver(endpoint, { daysAgo: 29, status: 'skipped', error: 'endpoint_gone' });
  await deliver(endpoint, { daysAgo: 31, status: 'failed', error: 'http_5xx' });
  expect(await warnings('test')).toEqual([{ endpointId: endpoint, url, skipped: 2, expiring: 2 }]);
  expect(await warnings('live')).toEqual([]);
  expect(await warnings('test', await makeAccount(database.owner))).toEqual([]);
});
