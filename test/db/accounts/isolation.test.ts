/**
 * Every route, called from another account and from the other mode of the same account: nothing of
 * the owner's is shown, changed or revealed (the specification, "What the service does").
 */
import { EXPORTS } from '../../../src/domain/bookkeeping';
import { RECONCILED } from '../../../src/domain/merchant-reconciliation';
import { OPERATIONS } from '../../../src/openapi/document';
import { newId } from '../../../src/platform/lib/new-id';
import { addFeeRule } from '../fee-rules';
import { createKey, fund } from '../../support/merchant/merchant';
import {
  type ApiAnswer,
  buildPayout,
  buildRecipient,
  MerchantClient,
} from '../../support/merchant/merchant-client';
import { atProvider, whenPayment } from '../../support/payment/payment-steps';
import { type FundedMerchant, openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const BODY = buildPayout({ reference: 'order-of-the-owner' });
const PAYMENT_BODY = {
  amount: '75',
  currency: 'USDT',
  reference: 'order-of-the-owner',
  customer_email: 'customer-of-the-owner@example.com',
};
const IDEMPOTENCY_KEY = 'key-of-the-owner';
const PERCENTAGE = '0.1234';

type OwnedKind =
  | 'payment'
  | 'payout'
  | 'payoutBatch'
  | 'payoutSchedule'
  | 'recipient'
  | 'refund'
  | 'apiKey'
  | 'webhookEndpoint'
  | 'webhookDelivery';

interface Stranger {
  client: MerchantClient;
  /** Fee rules belong to an account, and hold in both of its modes. */
  sharesFees: boolean;
}

const gateway = started(startDirectGateway);
let owner: FundedMerchant;
/** An object of the owner of each kind, by its id. */
let owned: Record<OwnedKind, string>;
let strangers: Record<string, Stranger>;
/** What nobody else may get to see. */
let secrets: string[];

beforeAll(async () => {
  owner = await openMerchant(gateway, { funds: { USDT: '5000' } });
  const { accountId, client } = owner;
  await addFeeRule(gateway.db, { accountId, percentage: PERCENTAGE });
  const byApi = 'UPDATE accounts SET live_keys_by_api = true WHERE id = ?';
  await gateway.db.query(byApi, [accountId]);
  const make = async (path: string, body: object, key: string) =>
    (await client.create(path, body, key)).json.data;
  const payout = await make('/payouts', BODY, IDEMPOTENCY_KEY);
  const payoutBatch = await make('/payout_batches', BATCH_BODY, BATCH_KEY);
  const payoutSchedule = await make('/payout_schedules', SCHEDULE_BODY, SCHEDULE_KEY);
  const recipient = await make('/recipients', RECIPIENT_BODY, RECIPIENT_KEY);
  const webhookEndpoint = await make('/webhook_endpoints', ENDPOINT_BODY, ENDPOINT_KEY);
  const ping = (await client.post(`/webhook_endpoints/${webhookEndpoint.id}/ping`)).json.data;
  const apiKey = await make('/api_keys', KEY_BODY, KEY_KEY);
  const payment = (await client.createPayment(PAYMENT_BODY)).json.data;
  owned = {
    payout: payout.id,
    payoutBatch: payoutBatch.id,
    payoutSchedule: payoutSchedule.id,
    recipient: recipient.id,
    webhookEndpoint: webhookEndpoint.id,
    webhookDelivery: ping.delivery_id,
    apiKey: apiKey.id,
    payment: payment.id,
    refund: await refundOf(payment.id),
  };
  const second = await createKey(gateway.db, gateway.pepper, { accountId, mode: 'live' });
  readers = [client, new MerchantClient(gateway.baseUrl, second)];
  const other = await openMerchant(gateway, { funds: { BTC: '3' } });
  await fund(gateway.db, accountId, 'test', 'BTC', '3');
  strangers = {
    'another account': { client: other.client, sharesFees: false },
    'another account in the other mode': { client: other.otherMode, sharesFees: false },
    'the other mode': { client: owner.otherMode, sharesFees: true },
  };
  const { json } = await client.get('/transactions');
  const postings = json.data as { id: string; source: { id: string } }[];
  secrets = [
    accountId,
    ...Object.values(owned),
    ...['order', 'batch', 'schedule', 'recipient', 'endpoint', 'refund'].map(
      (what) => `${what}-of-the-owner`,
    ),
    KEY_BODY.name,
    apiKey.secret,
    PAYMENT_BODY.customer_email,
    ...postings.flatMap(({ id, source }) => [id, source.id]),
  ];
});

/** The keys of the owner that read in turn, so that each stays below its rate. */
let readers: MerchantClient[];

/** Everything that the owner sees of its own. */
async function seenByOwner(): Promise<string[]> {
  const lists = [
    '/payments',
    '/refunds',
    '/payouts',
    '/webhook_endpoints',
    `/api_keys/${owned.apiKey}`,
  ];
  const paths = [
    ...lists,
    `/webhook_deliveries/${owned.webhookDelivery}`,
    '/balance',
    '/transactions',
    '/fees',
  ];
  const [reader = owner.client, ...others] = readers;
  readers = [...others, reader];
  return Promise.all(paths.map(async (path) => (await reader.get(path)).text));
}

const withoutRequestId = ({ status, json }: ApiAnswer) => ({
  status,
  error: { ...json.error, request_id: null },
});

/** An entry of the log is written a moment after its request. */
function requestsOfOwner(): Promise<{ id: string }[]> {
  return waitFor('the requests of the owner', async () => {
    const { json } = await owner.client.get('/request_logs?path=/api/v1/payouts');
    const found = json.data as { id: string }[];
    return found.length > 0 && found;
  });
}

/** The answer for the owner's id is that for an id that nobody has. */
async function expectUnknown(
  kind: OwnedKind,
  ask: (id: string) => Promise<ApiAnswer>,
): Promise<ApiAnswer[]> {
  const [theirs, nobodys] = [await ask(owned[kind]), await ask(newId(kind))];
  expect(theirs.status).toBe(404);
  expect(withoutRequestId(theirs)).toEqual(withoutRequestId(nobodys));
  return [theirs];
}

/** One of the owner's objects answers as one that nobody has. */
async function expectSameAs(client: MerchantClient, path: string, unknown: string) {
  const [theirs, nobodys] = [await client.get(path), await client.get(unknown)];
  expect(theirs.status).toBe(404);
  expect(withoutRequestId(theirs)).toEqual(withoutRequestId(nobodys));
  return theirs;
}

async function expectEmpty(client: MerchantClient, paths: string[]): Promise<ApiAnswer[]> {
  const answers = await Promise.all(paths.map((path) => client.get(path)));
  for (const { status, json } of answers) {
    expect([status, json.data, json.meta.next_cursor]).toEqual([200, [], null]);
  }
  return answers;
}

const REFUND_KEY = 'refund-key-of-the-owner';
const REFUND_BODY = { amount: '10', reference: 'refund-of-the-owner' };

/** The id of a refund of the payment, which is paid first. */
async function refundOf(paymentId: string): Promise<string> {
  await atProvider(gateway, paymentId, 'pay');
  await whenPayment(owner.client, paymentId, 'completed');
  const path = `/payments/${paymentId}/refunds`;
  const key = { 'idempotency-key': REFUND_KEY };
  const { status, text, json } = await owner.client.post(path, REFUND_BODY, key);
  if (status !== 201) throw new Error(`the refund was answered with ${status} ${text}`);
  return json.data.id;
}

const BATCH_KEY = 'batch-key-of-the-owner';
const BATCH_BODY = {
  reference: 'batch-of-the-owner',
  payouts: [buildPayout({ reference: 'row-of-the-owner' })],
};

const SCHEDULE_KEY = 'schedule-key-of-the-owner';
const SCHEDULE_BODY = {
  reference: 'schedule-of-the-owner',
  interval_seconds: 86_400,
  payouts: [buildPayout({ reference: 'scheduled-row-of-the-owner' })],
};

const RECIPIENT_KEY = 'recipient-key-of-the-owner';
const RECIPIENT_BODY = buildRecipient({ name: 'recipient-of-the-owner', tags: ['owner'] });

const KEY_KEY = 'key-of-a-key-of-the-owner';
const KEY_BODY = { name: 'key-made-by-the-owner', scopes: ['balance:read'] };

const ENDPOINT_KEY = 'endpoint-key-of-the-owner';
const ENDPOINT_BODY = {
  url: 'https://127.0.0.1:9999/endpoint-of-the-owner',
  events: ['refund.failed'],
};

const QUOTE = '/fees/quote?direction=payout&provider=onchain_provider&currency=USDT&amount=10000';

/** What a stranger does with each operation; the answers are searched for the owner's secrets. */
const ATTEMPTS: Record<string, (stranger: Stranger) => Promise<ApiAnswer[]>> = {
  listPayouts: ({ client }) =>
    expectEmpty(client, [
      '/payouts',
      '/payouts?reference=order-of-the-owner',
      `/payouts?batch=${owned.payoutBatch}`,
      `/payouts?recipient=${owned.recipient}`,
      '/payouts?status=under_review&currency=USDT&limit=1',
    ]),
  getPayout: ({ client }) => expectUnknown('payout', (id) => client.get(`/payouts/${id}`)),
  getPayoutDossier: ({ client }) =>
    expectUnknown('payout', (id) => client.get(`/payouts/${id}/dossier`)),
  cancelPayout: ({ client }) =>
    expectUnknown('payout', (id) => client.post(`/payouts/${id}/cancel`)),
  releasePayout: ({ client }) =>
    expectUnknown('payout', (id) => client.post(`/payouts/${id}/release`)),
  cancelPayment: ({ client }) =>
    expectUnknown('payment', (id) => client.post(`/payments/${id}/cancel`)),
  // The very same request with the same key, too.
  createRefund: ({ client }) => {
    const key = { 'idempotency-key': REFUND_KEY };
    return expectUnknown('payment', (id) =>
      client.post(`/payments/${id}/refunds`, REFUND_BODY, key),
    );
  },
  listPaymentRefunds: ({ client }) =>
    expectUnknown('payment', (id) => client.get(`/payments/${id}/refunds`)),
  listRefunds: ({ client }) =>
    expectEmpty(client, [
      '/refunds',
      `/refunds?payment_id=${owned.payment}`,
      '/refunds?reference=refund-of-the-owner',
    ]),
  cancelRefund: ({ client }) =>
    expectUnknown('refund', (id) => client.post(`/refunds/${id}/cancel`)),
  getRefund: ({ client }) => expectUnknown('refund', (id) => client.get(`/refunds/${id}`)),
  listPayoutBatches: ({ client }) => expectEmpty(client, ['/payout_batches']),
  getPayoutBatch: ({ client }) =>
    expectUnknown('payoutBatch', (id) => client.get(`/payout_batches/${id}`)),
  getPayoutBatchProof: ({ client }) =>
    expectUnknown('payoutBatch', (id) => client.get(`/payout_batches/${id}/proof`)),
  stopPayoutBatch: ({ client }) =>
    expectUnknown('payoutBatch', (id) => client.post(`/payout_batches/${id}/stop`)),
  leaveOutPayoutBatchRows: ({ client }) =>
    expectUnknown('payoutBatch', (id) =>
      client.post(`/payout_batches/${id}/leave_out`, { rows: [1] }),
    ),
  // The very same request with the same key, too.
  createPayoutBatch: async ({ client }) => {
    const answer = await client.post('/payout_batches', BATCH_BODY, {
      'idempotency-key': BATCH_KEY,
    });
    expect(answer).toMatchObject({
      status: 422,
      json: { error: { code: 'insufficient_balance', details: { available: '0.00000000' } } },
    });
    return [answer];
  },
  listPayoutSchedules: ({ client }) => expectEmpty(client, ['/payout_schedules']),
  getPayoutSchedule: ({ client }) =>
    expectUnknown('payoutSchedule', (id) => client.get(`/payout_schedules/${id}`)),
  listPayoutScheduleRuns: ({ client }) =>
    expectUnknown('payoutSchedule', (id) => client.get(`/payout_schedules/${id}/runs`)),
  pausePayoutSchedule: ({ client }) =>
    expectUnknown('payoutSchedule', (id) => client.post(`/payout_schedules/${id}/pause`)),
  resumePayoutSchedule: ({ client }) =>
    expectUnknown('payoutSchedule', (id) => client.post(`/payout_schedules/${id}/resume`)),
  endPayoutSchedule: ({ client }) =>
    expectUnknown('payoutSchedule', (id) => client.post(`/payout_schedules/${id}/end`)),
  // The very same request with the same key makes a schedule of the stranger's own.
  createPayoutSchedule: async ({ client }) => {
    const answer = await client.post('/payout_schedules', SCHEDULE_BODY, {
      'idempotency-key': SCHEDULE_KEY,
    });
    expect([answer.status, answer.json.data.last_run]).toEqual([201, null]);
    expect(answer.json.data.id).not.toBe(owned.payoutSchedule);
    await client.post(`/payout_schedules/${answer.json.data.id}/end`);
    return [];
  },
  // A payout to the owner's recipient is refused as one to a recipient that nobody has.
  createRecipient: async ({ client }) => {
    const pay = async (recipient: string) => {
      const { destination: _none, ...body } = buildPayout({ reference: 'to-a-recipient' });
      const { status, json } = await client.createPayout({ ...body, recipient });
      return { status, text: JSON.stringify(json.error.details).replaceAll(recipient, '') };
    };
    expect(await pay(owned.recipient)).toEqual(await pay(newId('recipient')));
    const body = { ...RECIPIENT_BODY, currency: 'XYZ' };
    const answer = await client.createRecipient(body, RECIPIENT_KEY);
    expect(answer).toMatchObject({ status: 422, json: { error: { code: 'validation_failed' } } });
    return [answer];
  },
  listRecipients: ({ client }) => expectEmpty(client, ['/recipients', '/recipients?tag=owner']),
  getRecipient: ({ client }) => expectUnknown('recipient', (id) => client.get(`/recipients/${id}`)),
  updateRecipient: ({ client }) =>
    expectUnknown('recipient', (id) => client.patch(`/recipients/${id}`, { name: 'Eve' })),
  deleteRecipient: ({ client }) =>
    expectUnknown('recipient', (id) => client.delete(`/recipients/${id}`)),
  listPayments: ({ client }) =>
    expectEmpty(client, [
      '/payments',
      '/payments?reference=order-of-the-owner',
      '/payments?limit=1',
    ]),
  getPayment: ({ client }) => expectUnknown('payment', (id) => client.get(`/payments/${id}`)),
  verifyPayment: ({ client }) =>
    expectUnknown('payment', (id) => client.post(`/payments/${id}/verify`)),
  // The owner's key and reference, and a body that no provider takes: refused for the body alone.
  createPayment: async ({ client }) => {
    const answer = await client.createPayment(
      { ...PAYMENT_BODY, currency: 'XYZ' },
      IDEMPOTENCY_KEY,
    );
    expect(answer).toMatchObject({ status: 422, json: { error: { code: 'validation_failed' } } });
    return [answer];
  },
  getBalance: async ({ client }) => {
    const answer = await client.get('/balance');
    const balances = answer.json.balances as { currency: string }[];
    expect(balances.map(({ currency }) => currency)).not.toContain('USDT');
    return [answer];
  },
  listTransactions: async ({ client }) => {
    const all = await client.get('/transactions');
    for (const { currency } of all.json.data) expect(currency).toBe('BTC');
    const empty = await expectEmpty(client, [
      `/transactions?source_id=${owned.payout}`,
      '/transactions?currency=USDT',
      '/transactions?type=payout_reserve',
    ]);
    return [all, ...empty];
  },
  listEvents: async ({ client }) => {
    const [event] = (await owner.client.get('/events')).json.data;
    const all = await client.get('/events');
    // Its link to the next page contains the id that was asked for.
    const ofObject = await client.get(`/events?object_id=${owned.payout}`);
    const feed = await client.get('/events?after=oldest');
    for (const { status, json } of [all, ofObject, feed]) {
      expect([status, json.data]).toEqual([200, []]);
    }
    const after = (id: string) => client.get(`/events?after=${id}`);
    const [theirs, nobodys] = [await after(event.id), await after(newId('event'))];
    expect(theirs.status).toBe(422);
    expect(withoutRequestId(theirs)).toEqual(withoutRequestId(nobodys));
    return [all, theirs];
  },
  getEvent: async ({ client }) => {
    const [event] = (await owner.client.get('/events')).json.data;
    return [await expectSameAs(client, `/events/${event.id}`, `/events/${newId('event')}`)];
  },
  getTransaction: async ({ client }) => {
    const [transaction] = (await owner.client.get('/transactions')).json.data;
    const unknown = `/transactions/${newId('transaction')}`;
    return [await expectSameAs(client, `/transactions/${transaction.id}`, unknown)];
  },
  exportFile: async ({ client }) => {
    const kinds = EXPORTS.map((kind) => client.get(`/exports?kind=${kind}&format=json`));
    const answers = await Promise.all(kinds);
    for (const { text } of answers) expect(text).not.toContain('USDT');
    return answers;
  },
  // The very same request with the same key makes a key of the stranger's own, in test mode.
  createApiKey: async ({ client }) => {
    const answer = await client.create('/api_keys', KEY_BODY, KEY_KEY);
    expect([201, 403]).toContain(answer.status);
    if (answer.status === 403) {
      expect(answer.json.error.details).toEqual({ reason: 'live_keys_by_people' });
      return [answer];
    }
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(answer.json.data.id).not.toBe(owned.apiKey);
    return [];
  },
  // Every stranger has requests of its own, which can name objects of the owner.
  listRequestLogs: async ({ client }) => {
    const [request] = await requestsOfOwner();
    const { status, json } = await client.get('/request_logs?limit=100');
    const seen = json.data as { id: string; ip_address: string }[];
    expect(status).toBe(200);
    expect(seen.map(({ id }) => id)).not.toContain(request!.id);
    const path = `/request_logs?path=/api/v1/payouts/${owned.payout}/cancel-of-the-owner`;
    return expectEmpty(client, [path]);
  },
  getRequestLog: async ({ client }) => {
    const [request] = await requestsOfOwner();
    const unknown = `/request_logs/${newId('request')}`;
    return [await expectSameAs(client, `/request_logs/${request!.id}`, unknown)];
  },
  // Every stranger has keys of its own.
  listApiKeys: async ({ client }) => {
    const { json } = await client.get('/api_keys');
    const keys = json.data as { id: string }[];
    expect(keys.map(({ id }) => id)).not.toContain(owned.apiKey);
    return [];
  },
  getApiKey: ({ client }) => expectUnknown('apiKey', (id) => client.get(`/api_keys/${id}`)),
  rollApiKey: ({ client }) => expectUnknown('apiKey', (id) => client.post(`/api_keys/${id}/roll`)),
  revokeApiKey: ({ client }) =>
    expectUnknown('apiKey', (id) => client.post(`/api_keys/${id}/revoke`)),
  // The very same request with the same key makes an endpoint of the stranger's own.
  createWebhookEndpoint: async ({ client }) => {
    const answer = await client.post('/webhook_endpoints', ENDPOINT_BODY, {
      'idempotency-key': ENDPOINT_KEY,
    });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect(answer.json.data.id).not.toBe(owned.webhookEndpoint);
    await client.delete(`/webhook_endpoints/${answer.json.data.id}`);
    return [];
  },
  listWebhookEndpoints: ({ client }) => expectEmpty(client, ['/webhook_endpoints']),
  getWebhookEndpoint: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) => client.get(`/webhook_endpoints/${id}`)),
  updateWebhookEndpoint: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) =>
      client.patch(`/webhook_endpoints/${id}`, { url: 'https://127.0.0.1:9999/of-eve' }),
    ),
  deleteWebhookEndpoint: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) => client.delete(`/webhook_endpoints/${id}`)),
  rollWebhookEndpoint: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) => client.post(`/webhook_endpoints/${id}/roll`)),
  pingWebhookEndpoint: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) => client.post(`/webhook_endpoints/${id}/ping`)),
  listWebhookDeliveries: ({ client }) =>
    expectUnknown('webhookEndpoint', (id) => client.get(`/webhook_endpoints/${id}/deliveries`)),
  getWebhookDelivery: ({ client }) =>
    expectUnknown('webhookDelivery', (id) => client.get(`/webhook_deliveries/${id}`)),
  resendWebhookDelivery: ({ client }) =>
    expectUnknown('webhookDelivery', (id) => client.post(`/webhook_deliveries/${id}/resend`)),
  createReconciliation: async ({ client }) => {
    const period = { created_from: '2026-01-01', created_to: '2026-12-31' };
    const compare = (object: string, reference: string) =>
      client.post('/reconciliations', {
        ...{ object, ...period, rows: [{ reference, amount: '1', currency: 'USDT' }] },
      });
    const answers = await Promise.all(
      RECONCILED.map(async (object) => {
        const [known] = (await owner.client.get(`/${object}s`)).json.data;
        const reference = String(known?.reference ?? 'none');
        const theirs = await compare(object, reference);
        expect(theirs.json.data.counts).toMatchObject({ unknown: 1, missing: 0 });
        // An answer repeats what was asked for.
        return { ...theirs, text: theirs.text.replaceAll(reference, 'nobody') };
      }),
    );
    return answers;
  },
  listFees: async ({ client, sharesFees }) => {
    const answer = await client.get('/fees');
    expect(answer.status).toBe(200);
    expect(answer.text.includes(PERCENTAGE)).toBe(sharesFees);
    return [answer];
  },
  quoteFee: async ({ client, sharesFees }) => {
    const answer = await client.get(QUOTE);
    expect(answer.json.service_fee).toBe(sharesFees ? '12.34000000' : '100.00000000');
    return [answer];
  },
  listCurrencies: async ({ client }) => {
    const answer = await client.get('/currencies');
    expect(answer.text).toBe((await owner.client.get('/currencies')).text);
    return [answer];
  },
  // The very same request with the same key: refused for the stranger's own balance alone.
  createPayout: async ({ client }) => {
    const answer = await client.createPayout(BODY, IDEMPOTENCY_KEY);
    expect(answer).toMatchObject({
      status: 422,
      json: {
        error: { code: 'insufficient_balance', details: { available: '0.00000000' } },
      },
    });
    return [answer];
  },
};

test('every operation of the API is tried', () => {
  expect(Object.keys(ATTEMPTS).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
});

const NAMES = [
  'another account',
  'the other mode',
  ...scaled([], ['another account in the other mode']),
];

/** What the test before found; reading it once keeps the owner's key below its rate. */
let lastSeen: string[] | undefined;

test.each(NAMES.flatMap((who) => Object.keys(ATTEMPTS).map((operation) => ({ who, operation }))))(
  '$operation from $who shows, changes and reveals nothing',
  async ({ who, operation }) => {
    const before = lastSeen ?? (await seenByOwner());
    const answers = await ATTEMPTS[operation]!(strangers[who]!);
    for (const { text } of answers) {
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    }
    lastSeen = await seenByOwner();
    expect(lastSeen).toEqual(before);
  },
);

test('references and idempotency keys are each account’s and mode’s own', async () => {
  const other = await openMerchant(gateway, { funds: { USDT: '100' } });
  await fund(gateway.db, owner.accountId, 'test', 'USDT', '100');
  await fund(gateway.db, other.accountId, 'test', 'USDT', '100');
  const before = await seenByOwner();
  const ids = new Set([owned.payout]);
  for (const client of [other.client, other.otherMode, owner.otherMode]) {
    const { status, headers, json } = await client.createPayout(BODY, IDEMPOTENCY_KEY);
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, null]);
    ids.add(json.data.id);
    const found = (await client.get('/payouts?reference=order-of-the-owner')).json.data;
    expect(found).toEqual([json.data]);
  }
  expect(ids.size).toBe(4);
  expect(await seenByOwner()).toEqual(before);
  const replay = await owner.client.createPayout(BODY, IDEMPOTENCY_KEY);
  expect([replay.headers.get('idempotent-replayed'), replay.json.data.id]).toEqual([
    'true',
    owned.payout,
  ]);
});
