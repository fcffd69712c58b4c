/** What an operator starts for many deliveries at once: bounded, each once, found by an index. */
import { sentStatements } from '../sent-statements';
import { randomBytes } from 'node:crypto';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import { appendEvent, withEvents } from '../../../src/db/webhooks/events';
import { listWebhookDeliveries } from '../../../src/db/webhooks/webhook-deliveries';
import type { Db } from '../../../src/db/transaction';
import { OPEN_DELIVERIES_MAX } from '../../../src/domain/webhook-delivery';
import { newId } from '../../../src/platform/lib/new-id';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { retryDelivery } from '../../../src/features/webhooks/webhook-deliveries';
import {
  recoverWebhookDeliveries,
  replayMissing,
} from '../../../src/features/webhooks/webhook-recovery';
import { createEndpoint } from '../../../src/features/webhooks/webhook-endpoints';
import { createWebhookSender } from '../../../src/adapters/webhooks/sender';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { createMerchant } from '../../support/merchant/merchant';
import { scaled } from '../../support/scale';
import { Admin } from '../admin-harness';

const BY = { actor: 'test', reason: null };
const OVER = 1_500;
/** More than one batch takes. */
const SOME = 501;

let database: TestDatabase;
let db: Db;
/** With the application's rights. */
let appDb: Db;
let admin: Admin;
let accountId: string;
let endpointId: string;
const webhookSender = createWebhookSender({
  allowCidrs: ['127.0.0.0/8'],
  denyCidrs: [],
  ownHosts: [],
});

beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ url: database.ownerUrl, size: 4, applicationName: 'test' });
  appDb = connect({ url: database.appUrl, size: 4, applicationName: 'test' });
  admin = new Admin(database.ownerUrl, { WEBHOOK_SECRET_KEY: randomBytes(32).toString('hex') });
});

beforeEach(async () => {
  ({ accountId, endpointId } = await newEndpoint());
});

afterAll(async () => {
  await webhookSender.close();
  await Promise.all([db.destroy(), appDb.destroy()]);
  await database.drop();
});

async function newEndpoint(): Promise<{ accountId: string; endpointId: string }> {
  const merchant = await createMerchant(db, 'a pepper of no use');
  const secretBox = createSecretBox(randomBytes(32).toString('hex'), []);
  const { id } = await createEndpoint.make(
    db,
    BY,
    { webhookSender, secretBox, accountId: merchant.accountId, mode: 'test' },
    { url: 'http://127.0.0.1:1999/', events: ['all'] },
  );
  return { accountId: merchant.accountId, endpointId: id };
}

/** Events of one moment, as one big change makes them. */
async function fillEvents(count: number, account = accountId): Promise<void> {
  await db.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
     SELECT 'evt_' || ? || lpad(n::text, 9, '0'), ?, 'test', 'payout.completed', 'po_' || ?, n, '{}'
       FROM generate_series(1, ?::int) n`,
    [account, account, account, count],
  );
}

async function fillWebhookDeliveries(
  status: 'failed' | 'skipped' | 'succeeded',
  endpoint = endpointId,
  account = accountId,
): Promise<void> {
  await db.query(
    `INSERT INTO webhook_deliveries
            (id, event_id, endpoint_id, status, last_error, check_at, finished_at)
     SELECT replace(id, 'evt_', 'whd_'), id, ?, ?, 'too_many_open', now(), clock_timestamp()
       FROM events WHERE account_id = ?`,
    [endpoint, status, account],
  );
}

const aMinuteAgo = () => new Date(Date.now() - 60_000);
const recover = () =>
  recoverWebhookDeliveries(appDb, BY, null, { endpointId, since: aMinuteAgo() });
const replay = () => replayMissing(appDb, BY, null, { endpointId, since: aMinuteAgo() });

async function statusOfFreshEvent(): Promise<string | undefined> {
  const event = {
    id: newId('event'),
    type: 'payout.completed' as const,
    mode: 'test' as const,
    accountId,
  };
  const rest = { objectId: newId('payout'), sequence: 1, createdAt: new Date() };
  await appDb.transaction((tx) => {
    appendEvent(withEvents(tx), { ...event, ...rest, body: Buffer.from('{}') });
  });
  const [delivery] = await db.query<{ status: string }>(
    'SELECT status FROM webhook_deliveries WHERE event_id = ?',
    [event.id],
  );
  return delivery?.status;
}

const finishOpen = () =>
  db.query(
    `UPDATE webhook_deliveries SET status = 'succeeded', next_attempt_at = NULL, finished_at = now()
      WHERE endpoint_id = ? AND status = 'pending'`,
    [endpointId],
  );

test('recover opens no more than the bound, leaves room for new events, and says what is left', async () => {
  await fillEvents(OPEN_DELIVERIES_MAX + OVER);
  await fillWebhookDeliveries('skipped');
  const first = await recover();
  expect(first.resumed).toBeLessThan(OPEN_DELIVERIES_MAX);
  expect(first).toMatchObject({ left: OPEN_DELIVERIES_MAX + OVER - first.resumed });
  expect(await statusOfFreshEvent()).toBe('pending');
  const since = aMinuteAgo().toISOString();
  const { stdout } = await admin.run('webhooks', 'recover', endpointId, '--since', since);
  expect(stdout).toMatch(/resumed +0/);
  expect(stdout).toMatch(/Not all.*Run this again/);
  await finishOpen();
  expect(await recover()).toMatchObject({ resumed: first.left, left: 0 });
});

test('replay opens no more than the bound, leaves room for new events, and goes on later', async () => {
  // PostgreSQL knows of one delivery: every index looks equally good.
  await fillEvents(1);
  await replay();
  await db.query('ANALYZE webhook_deliveries; DELETE FROM webhook_deliveries; DELETE FROM events');
  await fillEvents(OPEN_DELIVERIES_MAX + OVER);
  const first = await replay();
  expect(first.created).toBeLessThan(OPEN_DELIVERIES_MAX);
  expect(first).toMatchObject({ left: OPEN_DELIVERIES_MAX + OVER - first.created });
  expect(await statusOfFreshEvent()).toBe('pending');
  expect(await replay()).toMatchObject({ created: 0, left: first.left });
  await finishOpen();
  expect(await replay()).toMatchObject({ created: first.left, left: 0 });
  expect(await replay()).toMatchObject({ created: 0, left: 0 });
});

test('replay of an endpoint for all events leaves out what it has to name', async () => {
  await fillEvents(2);
  await db.query(
    `UPDATE events SET type = 'payment.received' WHERE account_id = ? AND sequence = 1`,
    [accountId],
  );
  expect(await replay()).toMatchObject({ created: 1 });
});

test('recover asks once for each that failed, also for those that are attempted meanwhile', async () => {
  await fillEvents(SOME);
  await fillWebhookDeliveries('failed');
  // What a worker does that is quick: the attempt begins before the next batch, and fails.
  await db.query(
    `CREATE FUNCTION attempt_at_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
     BEGIN
       UPDATE webhook_deliveries SET retry_requested_at = NULL
        WHERE id IN (SELECT id FROM webhook_deliveries WHERE retry_requested_at IS NOT NULL
                      ORDER BY id LIMIT 2);
       RETURN NULL;
     END $$;
     CREATE TRIGGER attempt_at_once AFTER INSERT ON audit_log
       FOR EACH ROW EXECUTE FUNCTION attempt_at_once()`,
  );
  const recovered = await recover();
  await db.query('DROP TRIGGER attempt_at_once ON audit_log; DROP FUNCTION attempt_at_once');
  expect(recovered).toMatchObject({ retried: SOME, resumed: 0, left: 0 });
});

describe('a retry needs the body of the event', () => {
  const age = (table: string, days: number) =>
    db.query(`UPDATE ${table} SET created_at = now() - ${days} * interval '1 day'`);
  const theWebhookDelivery = () => `whd_${accountId}000000001`;

  beforeEach(async () => {
    await fillEvents(1);
    await fillWebhookDeliveries('failed');
  });

  test('one without is refused, however young the delivery is', async () => {
    await db.query('UPDATE events SET body = NULL WHERE account_id = ?', [accountId]);
    await expect(
      retryDelivery.make(
        appDb,
        BY,
        { id: theWebhookDelivery(), webhookDeliveryWorkflows: null },
        {},
      ),
    ).rejects.toMatchObject({ refusal: { code: 'delivery_body_deleted', keptDays: 30 } });
    expect(await recover()).toMatchObject({ retried: 0 });
  });

  test('one with it is taken, however old it is', async () => {
    await age('webhook_deliveries', 31);
    await retryDelivery.make(
      appDb,
      BY,
      { id: theWebhookDelivery(), webhookDeliveryWorkflows: null },
      {},
    );
    expect(await recover()).toMatchObject({ retried: 0 });
    await db.query('UPDATE webhook_deliveries SET retry_requested_at = NULL');
    expect(await recover()).toMatchObject({ retried: 1 });
  });
});

describe('among many deliveries and many tenants', () => {
  const EVENTS = scaled(1_000, 12_000);
  const OTHERS = 20;

  beforeEach(async () => {
    for (let tenant = 0; tenant < OTHERS; tenant += 1) {
      const other = await newEndpoint();
      await fillEvents(EVENTS, other.accountId);
      await fillWebhookDeliveries('succeeded', other.endpointId, other.accountId);
    }
    await fillEvents(EVENTS);
    await fillWebhookDeliveries('succeeded');
    await db.query(
      `UPDATE webhook_deliveries SET status = 'failed'
        WHERE id LIKE '%0001' AND status = 'succeeded'`,
    );
    await withClient(database.ownerUrl, (client) =>
      client.query('VACUUM (ANALYZE) events, webhook_deliveries'),
    );
  });

  test('each batch reads what it needs by an index of the account or endpoint', async () => {
    const failed = await explain(/UPDATE webhook_deliveries/, recover);
    expect(failed).toHaveLength(2);
    for (const plan of failed) expect(plan).toContain('webhook_deliveries_unsuccessful');
    const [missing] = await explain(/INSERT INTO webhook_deliveries/, replay);
    // When the account has little more than a statement looks at, it may read all of it and sort.
    expect(missing).toContain('events_of_account_with_body');
    expect(missing).not.toMatch(/Seq Scan|events_with_body/);
    const [listed] = await explain(/SELECT/, () =>
      listWebhookDeliveries(appDb, endpointId, 'failed', 20),
    );
    expect(listed).toContain('webhook_deliveries_unsuccessful');
    for (const plan of [...failed, listed]) {
      expect(plan).not.toMatch(/Seq Scan/);
      // The endpoint's own failures are few; of all deliveries, far more would be sorted.
      const sorted = [...plan!.matchAll(/Sort {2}\(cost=\S+ rows=(\d+)/g)].map(([, rows]) => rows);
      expect(Math.max(0, ...sorted.map(Number))).toBeLessThan(200);
    }
  });
});

/** The plans of the statements that `work` sends, as the application's role runs them. */
async function explain(wanted: RegExp, work: () => Promise<unknown>): Promise<string[]> {
  const sent = await sentStatements(work);
  return withClient(database.appUrl, async (client) => {
    const plans: string[] = [];
    for (const { sql, bindings } of sent.filter((one) => wanted.test(one.sql))) {
      const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN ${sql}`,
        bindings,
      );
      plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
    }
    return plans;
  });
}
