/** `admin webhooks` on a real database: endpoints, their secrets, what is refused and with which words. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../../src/db/transaction';
import { connect } from '../../../src/db/connect';
import { createMerchant } from '../../support/merchant/merchant';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { faultOf, type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { Admin, auditRows } from '../admin-harness';

let database: TestDatabase;
let db: Db;
let admin: Admin;
let accountId: string;
let receiver: Receiver;
const KEYS = { WEBHOOK_SECRET_KEY: randomBytes(32).toString('hex') };

beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ url: database.ownerUrl, size: 2, applicationName: 'test' });
  admin = new Admin(database.adminUrl, { ...KEYS, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
  receiver = await startReceiver();
});

beforeEach(async () => {
  ({ accountId } = await createMerchant(db, 'a pepper of no use'));
  receiver.received.splice(0);
  receiver.answer = 200;
});

afterAll(async () => {
  await receiver.stop();
  await db.destroy();
  await database.drop();
});

const create = (...more: string[]) =>
  admin.json(
    ...['webhooks', 'create', '--account', accountId, '--mode', 'test', '--url', receiver.url],
    ...more,
  );

test('an endpoint is made, shown, edited, switched and deleted, each with an audit row', async () => {
  const { secret, ...made } = await create('--events', 'payout.failed,payout.completed');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(made).toMatchObject({
    id: expect.stringMatching(/^we_/),
    mode: 'test',
    url: receiver.url,
    events: ['payout.completed', 'payout.failed'],
    enabled: true,
  });
  const { id } = made;
  expect(await admin.list('webhooks', 'list', '--account', accountId)).toEqual([made]);
  const edited = await admin.json(
    'webhooks',
    'edit',
    id,
    '--events',
    'all',
    '--description',
    'Shop',
    '--url',
    receiver.url.replace('http:', 'HTTP:'),
  );
  expect(edited).toMatchObject({ events: ['all'], description: 'Shop', url: receiver.url });
  expect(await admin.json('webhooks', 'disable', id)).toMatchObject({ enabled: false });
  expect(await admin.refusal(1, 'webhooks', 'disable', id)).toContain('is already disabled');
  expect(await admin.json('webhooks', 'enable', id)).toMatchObject({ enabled: true });
  const gone = await admin.json('webhooks', 'delete', id, '--reason', 'moved');
  expect(gone.deleted_at).not.toBeNull();
  expect(await admin.list('webhooks', 'list', '--account', accountId)).toEqual([]);
  expect(await admin.json('webhooks', 'show', id)).toEqual(gone);
  expect(await admin.refusal(1, 'webhooks', 'enable', id)).toContain('was deleted at');
  const audit = await auditRows(db, id);
  expect(audit.map(({ action }) => action)).toEqual(
    ['create', 'edit', 'disable', 'enable', 'delete'].map((verb) => `webhook_endpoint.${verb}`),
  );
  expect(JSON.stringify(audit)).not.toContain(secret);
});

test('the secret is nowhere in the database, and a roll makes another', async () => {
  const { id, secret } = await create();
  const rolled = await admin.json('webhooks', 'roll', id);
  expect(rolled.secret).not.toBe(secret);
  const stored = JSON.stringify(await db.query('SELECT e::text FROM webhook_endpoints e'));
  for (const one of [secret, rolled.secret]) {
    expect(stored).not.toContain(one);
    expect(stored).not.toContain(Buffer.from(one).toString('hex'));
  }
});

test('ping is sent once, signed, also to a disabled endpoint, and can be looked at later', async () => {
  const { id, secret } = await create('--events', 'payout.failed');
  await admin.json('webhooks', 'disable', id);
  const ping = await admin.json('webhooks', 'ping', id);
  expect(ping).toMatchObject({ outcome: 'succeeded', response_status: 200, error_code: null });
  const [received, ...more] = receiver.received;
  expect(more).toEqual([]);
  expect(faultOf(received!, secret)).toBeNull();
  expect(received!.event).toEqual({
    id: ping.event_id,
    type: 'webhook.ping',
    mode: 'test',
    created_at: expect.any(String),
    sequence: 1,
    data: { object: 'ping', endpoint_id: id, url: receiver.url, events: ['payout.failed'] },
  });
  receiver.answer = 410;
  const refused = await admin.json('webhooks', 'ping', id);
  expect(refused).toMatchObject({
    outcome: 'failed',
    response_status: 410,
    error_code: 'http_4xx',
  });
  const deliveries = await admin.list('webhooks', 'deliveries', id);
  expect(deliveries.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  const [attempt] = await admin.list('webhooks', 'attempts', refused.delivery_id);
  expect(attempt).toMatchObject({ number: 1, response_status: 410, response_body: 'ok' });
  const since = new Date(Date.now() - 60_000).toISOString();
  await admin.json('webhooks', 'enable', id);
  expect(await admin.json('webhooks', 'recover', id, '--since', since)).toMatchObject({
    retried: 0,
    resumed: 0,
  });
});

test('at most sixteen in each mode; a deleted one makes room', async () => {
  const made = [];
  for (let count = 0; count < 16; count += 1) made.push(await create());
  const again = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
  expect(await admin.refusal(1, 'webhooks', 'create', ...again)).toContain(
    'maximum of 16 endpoints',
  );
  await admin.json('webhooks', 'delete', made[0].id);
  await create();
});

test.each([
  ['an address inside', 'http://10.0.0.1/', /--url: The URL cannot be used/],
  ['a scheme', 'ftp://shop.example.com/', /--url: The URL cannot be used/],
  ['a name that does not resolve', 'https://nothing.invalid/', /--url: The URL cannot be used/],
])('a URL is refused with its remedy: %s', async (_, url, sentence) => {
  const args = ['webhooks', 'create', '--account', accountId, '--mode', 'test', '--url', url];
  expect(await admin.refusal(2, ...args)).toMatch(sentence);
  const { id } = await create();
  expect(await admin.refusal(2, 'webhooks', 'edit', id, '--url', url)).toMatch(sentence);
});

test.each([
  ['plain http in live mode', ['create', '--mode', 'live', '--url', 'http://shop.example.com/'], 2],
  ['an event that does not exist', ['create', '--mode', 'test', '--events', 'payout.lost'], 2],
  ['nothing to change', ['edit', 'we_x'], 2],
  ['an endpoint that does not exist', ['roll', 'we_x'], 1],
  ['a delivery that does not exist', ['retry', 'whd_x'], 1],
  ['no time', ['recover', 'we_x'], 2],
  ['a time too long ago', ['recover', 'we_x', '--since', '2020-01-01'], 2],
  ['a time in the future', ['recover', 'we_x', '--since', '2099-01-01'], 2],
] as [string, string[], 1 | 2][])('%s is refused', async (_, [verb = '', ...args], code) => {
  const url = args.includes('--url') || verb !== 'create' ? [] : ['--url', receiver.url];
  const account = verb === 'create' ? ['--account', accountId] : [];
  const sentence = await admin.refusal(code, 'webhooks', verb, ...args, ...url, ...account);
  expect(sentence.trim()).toMatch(/[.:] ?.*\.$/s);
});

test('without the gateway’s key no secret is made, and the sentence names it', async () => {
  const keyless = new Admin(database.adminUrl);
  const args = ['webhooks', 'create', '--account', accountId, '--mode', 'test'];
  expect(await keyless.refusal(1, ...args, '--url', receiver.url)).toContain('WEBHOOK_SECRET_KEY');
});

test('a changed key opens nothing until the earlier one is named; reseal makes it needless', async () => {
  const { id, secret } = await create();
  const next = { WEBHOOK_SECRET_KEY: randomBytes(32).toString('hex') };
  const allow = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
  const alone = new Admin(database.adminUrl, { ...next, ...allow });
  expect(await alone.refusal(1, 'webhooks', 'ping', id)).toContain('WEBHOOK_SECRET_KEYS_EARLIER');
  const both = new Admin(database.adminUrl, {
    ...next,
    ...allow,
    WEBHOOK_SECRET_KEYS_EARLIER: KEYS.WEBHOOK_SECRET_KEY,
  });
  expect((await both.json('webhooks', 'reseal')).resealed).toBeGreaterThan(0);
  await alone.json('webhooks', 'ping', id);
  expect(faultOf(receiver.received.at(-1)!, secret)).toBeNull();
  await new Admin(database.adminUrl, {
    ...KEYS,
    ...allow,
    WEBHOOK_SECRET_KEYS_EARLIER: next.WEBHOOK_SECRET_KEY,
  }).json('webhooks', 'reseal');
});
