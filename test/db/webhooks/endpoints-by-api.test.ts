/** Webhook endpoints by API (decisions/webhooks#webhooks-by-api): with a real receiver, and as an attacker. */
import type { Scope } from '../../../src/domain/scopes';
import { SCOPES } from '../../../src/domain/scopes';
import { createKey } from '../../support/merchant/merchant';
import { type ApiAnswer, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { type FundedMerchant, openMerchant } from '../../support/payout/payout-steps';
import { whenWaiting } from '../lock-waits';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { faultOf, type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);
let merchant: FundedMerchant;
let receiver: Receiver;

beforeAll(async () => {
  merchant = await openMerchant(gateway, { mode: 'test' });
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

const post = (client: MerchantClient, body: object, key = randomKey()) =>
  client.create('/webhook_endpoints', body, key);

async function created(client: MerchantClient, overrides: object = {}) {
  const answer = await post(client, { url: receiver.url, ...overrides });
  expect(answer.status).toBe(201);
  return answer.json.data;
}

async function clientWith(scopes: readonly Scope[], accountId = merchant.accountId) {
  const secret = await createKey(gateway.db, gateway.pepper, { accountId, mode: 'test', scopes });
  return new MerchantClient(gateway.baseUrl, secret);
}

const refusal = ({ status, json }: ApiAnswer) => ({ status, ...json.error });

test('two deletions at the same time both succeed, and one is in the audit log', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const { id } = await created(client);
  const deletions: Promise<ApiAnswer>[] = [];
  await gateway.db.transaction(async (tx) => {
    await tx.query('SELECT FROM webhook_endpoints WHERE id = ? FOR UPDATE', [id]);
    deletions.push(...[1, 2].map(() => client.delete(`/webhook_endpoints/${id}`)));
    await whenWaiting(gateway.db, 2);
  });
  const [first, second] = await Promise.all(deletions);
  expect([first!.status, second!.status]).toEqual([200, 200]);
  expect(first!.json.data.deleted_at).toEqual(expect.any(String));
  expect(second!.json).toEqual(first!.json);
  const entries = await gateway.db.query(
    "SELECT FROM audit_log WHERE account_id = ? AND action = 'webhook_endpoint.delete'",
    [accountId],
  );
  expect(entries).toHaveLength(1);
});

test('an endpoint is created, read, listed, changed and deleted, each change in the audit log [endpoint POST /webhook_endpoints] [endpoint GET /webhook_endpoints] [endpoint GET /webhook_endpoints/{id}] [endpoint PATCH /webhook_endpoints/{id}] [endpoint DELETE /webhook_endpoints/{id}]', async () => {
  const { client, accountId } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const { secret, ...endpoint } = await created(client, {
    events: ['payout.failed', 'payout.completed', 'payout.failed'],
    description: 'Shop',
    signature: 'standard_webhooks',
  });
  expect(secret).toMatch(/^whsec_/);
  expect(endpoint).toMatchObject({
    object: 'webhook_endpoint',
    mode: 'test',
    url: receiver.url,
    events: ['payout.completed', 'payout.failed'],
    description: 'Shop',
    signature: 'standard_webhooks',
    enabled: true,
    deleted_at: null,
  });
  const path = `/webhook_endpoints/${endpoint.id}`;
  expect((await client.get(path)).json.data).toEqual(endpoint);

  const second = await created(client);
  expect(second).toMatchObject({ events: ['all'], description: null });
  const first = await client.get('/webhook_endpoints?limit=1');
  expect(first.json.data).toMatchObject([{ id: second.id }]);
  const rest = await client.get(`/webhook_endpoints?limit=1&cursor=${first.json.meta.next_cursor}`);
  expect([rest.json.data, rest.json.meta.next_cursor]).toEqual([[endpoint], null]);

  const change = { enabled: false, description: '', events: ['payout.failed'] };
  const changed = await client.patch(path, change);
  expect(changed.json.data).toMatchObject({ ...change, description: null, url: receiver.url });
  expect((await client.patch(path, change)).json).toEqual(changed.json);

  const deleted = await client.delete(path);
  expect(deleted.json.data.deleted_at).not.toBeNull();
  expect((await client.delete(path)).json).toEqual(deleted.json);
  expect((await client.get(path)).json).toEqual(deleted.json);
  expect(refusal(await client.patch(path, { enabled: true }))).toMatchObject({
    status: 409,
    code: 'invalid_state',
    details: { status: 'deleted' },
  });
  expect((await client.get('/webhook_endpoints')).json.data).toMatchObject([{ id: second.id }]);

  const audit = await gateway.db.query(
    `SELECT action, via, actor LIKE 'key_%' AS by_key FROM audit_log
      WHERE account_id = ? AND object_id = ? ORDER BY id`,
    [accountId, endpoint.id],
  );
  const by = { via: 'api', byKey: true };
  expect(audit).toEqual(
    ['create', 'edit', 'disable', 'delete'].map((verb) => ({
      action: `webhook_endpoint.${verb}`,
      ...by,
    })),
  );
});

test('the secret is in the first answer alone, and stored nowhere as text', async () => {
  const { client, accountId } = merchant;
  const key = randomKey();
  const body = { url: receiver.url, events: ['payout.failed'] };
  const first = await post(client, body, key);
  const replay = await post(client, body, key);
  expect(replay.headers.get('idempotent-replayed')).toBe('true');
  expect(replay.json.data).toEqual({ ...first.json.data, secret: null });
  expect(refusal(await post(client, { ...body, url: `${receiver.url}/x` }, key))).toMatchObject({
    status: 422,
    code: 'idempotency_key_reused',
  });
  const path = `/webhook_endpoints/${first.json.data.id}`;
  const rolled = await client.post(`${path}/roll`);
  const secrets = [first.json.data.secret, rolled.json.data.secret] as string[];
  expect(new Set(secrets).size).toBe(2);
  expect(Object.keys((await client.get(path)).json.data)).not.toContain('secret');
  await waitFor('the log of the requests', async () => {
    const logged = await gateway.db.query(
      `SELECT FROM request_log WHERE account_id = ? AND path LIKE '%/roll'`,
      [accountId],
    );
    return logged.length > 0;
  });
  for (const table of ['idempotency_keys', 'request_log', 'audit_log', 'webhook_endpoints']) {
    const rows = await gateway.db.query<{ row: string }>(
      `SELECT row_to_json(t)::text AS row FROM ${table} t WHERE account_id = ?`,
      [accountId],
    );
    const bytes = (text: string) => Buffer.from(text).toString('hex');
    for (const text of secrets.flatMap((secret) => [secret, bytes(secret)])) {
      expect(rows.filter(({ row }) => row.includes(text))).toEqual([]);
    }
  }
});

test('a ping arrives signed with the secret of the last roll [endpoint POST /webhook_endpoints/{id}/ping] [endpoint POST /webhook_endpoints/{id}/roll]', async () => {
  const { client } = merchant;
  const { id } = await created(client, { events: ['payout.failed'] });
  const { secret } = (await client.post(`/webhook_endpoints/${id}/roll`)).json.data;
  const { status, json } = await client.post(`/webhook_endpoints/${id}/ping`);
  expect([status, json.data]).toMatchObject([
    200,
    { object: 'webhook_ping', endpoint_id: id, outcome: 'succeeded', response_status: 200 },
  ]);
  const [got] = receiver.of(json.data.event_id);
  expect([got?.event.type, faultOf(got!, secret)]).toEqual(['webhook.ping', null]);
});

test('a key that may not read events points no endpoint anywhere', async () => {
  const { id } = await created(merchant.client, { events: ['payout.failed'] });
  const blind = await clientWith(SCOPES.filter((scope) => scope !== 'events:read'));
  const refused = {
    status: 403,
    code: 'insufficient_scope',
    details: { required_scope: 'events:read' },
  };
  expect(refusal(await post(blind, { url: receiver.url }))).toMatchObject(refused);
  const moved = await blind.patch(`/webhook_endpoints/${id}`, { url: `${receiver.url}/mine` });
  expect(refusal(moved)).toMatchObject(refused);
  expect((await merchant.client.get(`/webhook_endpoints/${id}`)).json.data.url).toBe(receiver.url);
});

test.each([
  ['no URL', {}, 'url', 'required'],
  ['a private address', { url: 'http://10.0.0.1/hooks' }, 'url', 'unsupported'],
  ['no URL at all', { url: 'shop' }, 'url', 'unsupported'],
  ['an unknown event', { events: ['payout.lost'] }, 'events.0', 'unsupported'],
  ['all events and one', { events: ['all', 'payout.failed'] }, 'events', 'format'],
  ['no events', { events: [] }, 'events', 'type'],
  ['two lines', { description: 'a\nb' }, 'description', 'format'],
  ['another field', { secret: 'mine' }, 'secret', 'unsupported'],
])('%s is refused, and the field is named', async (name, body, field, rule) => {
  const base = name === 'no URL' ? {} : { url: receiver.url };
  expect(refusal(await post(merchant.client, { ...base, ...body }))).toMatchObject({
    status: 422,
    code: 'validation_failed',
    details: { fields: [{ field, rule }] },
  });
});

test('the seventeenth endpoint of a mode is refused, and its key is free', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const all = await Promise.all(
    Array.from({ length: 18 }, () => post(client, { url: receiver.url })),
  );
  const made = all.filter(({ status }) => status === 201);
  expect(made).toHaveLength(16);
  const key = randomKey();
  expect(refusal(await post(client, { url: receiver.url }, key))).toMatchObject({
    status: 409,
    code: 'too_many_objects',
    details: { resource: 'webhook_endpoint', maximum: 16 },
  });
  await client.delete(`/webhook_endpoints/${made[0]!.json.data.id}`);
  expect((await post(client, { url: receiver.url }, key)).status).toBe(201);
});
