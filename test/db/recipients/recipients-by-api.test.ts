/** Recipients over HTTP, and what is paid to them: waits, refusals, and the rules of accounts. */
import { newId } from '../../../src/platform/lib/new-id';
import { started } from '../../support/started';
import {
  buildPayout,
  buildRecipient,
  type MerchantClient,
  payTo,
  randomKey,
} from '../../support/merchant/merchant-client';
import { balanceOf, type FundedMerchant, openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { startDirectGateway } from '../direct-gateway';

jest.setTimeout(scaled(300_000, 900_000));

const gateway = started(startDirectGateway);

const OTHER = { type: 'crypto_address', value: 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7' };

async function create(client: MerchantClient, overrides: Record<string, unknown> = {}) {
  const answer = await client.createRecipient(buildRecipient(overrides));
  expect(answer.status).toBe(201);
  return answer.json.data;
}

/** The time since which the destination stands, which only the owner of the database can move. */
async function age(id: string, hours: number): Promise<void> {
  await gateway.db.transaction(async (tx) => {
    await tx.query(`SET LOCAL session_replication_role = 'replica'`);
    await tx.query(
      `UPDATE recipients SET destination_since = destination_since - ? * interval '1 hour',
              usable_from = usable_from - ? * interval '1 hour' WHERE id = ?`,
      [hours, hours, id],
    );
  });
}

const setAccount = (id: string, sql: string) =>
  gateway.db.query(`UPDATE accounts SET ${sql} WHERE id = ?`, [id]);

describe('the recipients of a merchant', () => {
  let merchant: FundedMerchant;
  beforeAll(async () => {
    merchant = await openMerchant(gateway, { mode: 'test' });
  });

  test('are created, read, changed, listed and deleted, each change with an event and in the audit log [endpoint POST /recipients] [endpoint GET /recipients/{id}] [endpoint PATCH /recipients/{id}] [endpoint GET /recipients] [endpoint DELETE /recipients/{id}]', async () => {
    const { client, accountId } = merchant;
    const recipient = await create(client, { tags: ['payroll', 'payroll', 'london'] });
    expect(recipient).toMatchObject({
      object: 'recipient',
      mode: 'test',
      name: 'Ada Lovelace',
      network: 'tron',
      destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', memo: null },
      tags: ['payroll', 'london'],
      deleted_at: null,
    });
    const path = `/recipients/${recipient.id}`;
    expect((await client.get(path)).json.data).toEqual(recipient);

    const changed = await client.patch(path, { name: 'Ada King' });
    expect(changed).toMatchObject({ status: 200, json: { data: { name: 'Ada King' } } });
    expect((await client.patch(path, { name: 'Ada King' })).json).toEqual(changed.json);

    const list = await client.get('/recipients?tag=london&currency=USDT&network=tron');
    expect(list.json.data).toEqual([changed.json.data]);
    expect((await client.get('/recipients?tag=paris')).json.data).toEqual([]);

    const deleted = await client.delete(path);
    expect(deleted.status).toBe(200);
    expect(deleted.json.data.deleted_at).not.toBeNull();
    expect((await client.delete(path)).json).toEqual(deleted.json);
    expect((await client.patch(path, { name: 'Eve' })).status).toBe(409);
    expect((await client.get('/recipients?tag=london')).json.data).toEqual([]);

    const { json } = await client.get(`/events?object_id=${recipient.id}`);
    const events = json.data as { type: string }[];
    expect(events.map(({ type }) => type)).toEqual([
      'recipient.deleted',
      'recipient.updated',
      'recipient.created',
    ]);
    const audit = await gateway.db.query<{ action: string; via: string }>(
      'SELECT action, via FROM audit_log WHERE object_id = ? AND account_id = ? ORDER BY id',
      [recipient.id, accountId],
    );
    expect(audit).toEqual(
      ['create', 'edit', 'delete'].map((verb) => ({ action: `recipient.${verb}`, via: 'api' })),
    );
  });

  test('a repeated request creates one recipient', async () => {
    const { client } = merchant;
    const [body, key] = [buildRecipient({ tags: ['twice'] }), randomKey()];
    const answers = await Promise.all([1, 2, 3].map(() => client.createRecipient(body, key)));
    const last = await client.createRecipient(body, key);
    expect(last.status).toBe(201);
    for (const { status, text } of answers) {
      if (status === 201) expect(text).toBe(last.text);
      else expect(status).toBe(409);
    }
    expect((await client.get('/recipients?tag=twice')).json.data).toHaveLength(1);
  });

  test.each([
    [{ destination: { type: 'crypto_address', value: 'TNotAnAddress' } }, 'destination.value'],
    [{ network: 'nowhere' }, 'network'],
    [{ currency: 'XYZ' }, 'currency'],
    [{ name: '' }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ tags: ['with space'] }, 'tags.0'],
  ])('is refused with %j, and the field is named', async (overrides, field) => {
    const { status, json } = await merchant.client.createRecipient(buildRecipient(overrides));
    expect([status, json.error.details.fields[0].field]).toEqual([422, field]);
  });

  test('a payout goes to the recipient that it names', async () => {
    const { client } = merchant;
    const { id } = await create(client);
    const { status, json } = await client.createPayout(payTo(id));
    expect(status).toBe(201);
    expect(json.data).toMatchObject({
      recipient: id,
      network: 'tron',
      destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
    });
    const list = await client.get(`/payouts?recipient=${id}`);
    expect(list.json.data).toMatchObject([{ id: json.data.id }]);
  });

  test.each<[string, (id: string) => Record<string, unknown>, string]>([
    ['both', (id) => ({ ...buildPayout(), recipient: id }), 'recipient'],
    ['neither', () => ({ ...buildPayout(), destination: null }), 'destination'],
    ['an unknown recipient', () => payTo(newId('recipient')), 'recipient'],
    ['another currency', (id) => payTo(id, { currency: 'USDC' }), 'currency'],
    ['another network', (id) => ({ ...payTo(id), network: 'ethereum' }), 'network'],
  ])('a payout that names %s is refused', async (_what, build, field) => {
    const { client } = merchant;
    const { id } = await create(client);
    const { status, json } = await client.createPayout(build(id));
    expect([status, json.error.details.fields[0].field]).toEqual([422, field]);
  });

  test('a payout to a deleted recipient, and to one of another merchant, is refused', async () => {
    const { client } = merchant;
    const { id } = await create(client);
    await client.delete(`/recipients/${id}`);
    const other = await openMerchant(gateway, { mode: 'test' });
    const theirs = await create(other.client);
    for (const recipient of [id, theirs.id]) {
      const { status, json } = await client.createPayout(payTo(recipient));
      expect([status, json.error.details.fields[0].field]).toEqual([422, 'recipient']);
    }
  });

  test('a row of a batch names a recipient too', async () => {
    const { client } = merchant;
    const { id } = await create(client);
    const payouts = [payTo(id), buildPayout(), payTo(newId('recipient'))];
    const send = (more: object) =>
      client.post(
        '/payout_batches',
        { reference: randomKey(), payouts, ...more },
        {
          'idempotency-key': randomKey(),
        },
      );
    const dry = await send({ dry_run: true });
    expect(dry.json.data.refused_rows).toMatchObject([{ row: 3, code: 'validation_failed' }]);
    payouts.pop();
    const { status, json } = await send({});
    expect(status).toBe(201);
    const list = await client.get(`/payouts?batch=${json.data.id}&recipient=${id}`);
    expect(list.json.data).toHaveLength(1);
  });
});

describe('a live recipient', () => {
  test('waits 24 hours, and the refusal names the time', async () => {
    const { client } = await openMerchant(gateway);
    const recipient = await create(client);
    const wait = Date.parse(recipient.usable_from) - Date.parse(recipient.created_at);
    expect(Math.round(wait / 3_600_000)).toBe(24);
    const { status, json } = await client.createPayout(payTo(recipient.id));
    expect([status, json.error.code, json.error.details]).toEqual([
      409,
      'recipient_not_ready',
      { recipient: recipient.id, usable_from: recipient.usable_from },
    ]);
    expect(json.error.message).toContain(recipient.usable_from);
    await age(recipient.id, 25);
    expect((await client.createPayout(payTo(recipient.id))).status).toBe(201);
  });

  test('waits again when its destination changes, and not when its name does', async () => {
    const { client } = await openMerchant(gateway);
    const { id } = await create(client);
    await age(id, 25);
    await client.patch(`/recipients/${id}`, { name: 'Another name', tags: ['new'] });
    expect((await client.createPayout(payTo(id))).status).toBe(201);
    await client.patch(`/recipients/${id}`, { destination: OTHER });
    const refused = await client.createPayout(payTo(id));
    expect([refused.status, refused.json.error.code]).toEqual([409, 'recipient_not_ready']);
  });

  test('waits as long as the account says; a shorter wait is for later destinations', async () => {
    const { client, accountId } = await openMerchant(gateway);
    const early = await create(client);
    await setAccount(accountId, 'recipient_wait_hours = 0');
    expect((await client.createPayout(payTo(early.id))).status).toBe(409);
    const late = await create(client);
    expect((await client.createPayout(payTo(late.id))).status).toBe(201);
  });

  test('that has stood for a day is no first use of a destination to the review', async () => {
    const { client, accountId } = await openMerchant(gateway, { reviewAll: false });
    await setAccount(accountId, 'recipient_wait_hours = 0');
    const { id } = await create(client);
    const [fresh] = [await client.createPayout(payTo(id))];
    expect(fresh.json.data.status).toBe('under_review');
    await age(id, 25);
    expect((await client.createPayout(payTo(id))).json.data.status).toBe('requested');
  });

  test('a change of the destination and payouts at the same moment: none goes to the new one', async () => {
    const { client } = await openMerchant(gateway);
    const { id } = await create(client);
    await age(id, 25);
    const path = `/recipients/${id}`;
    const [change, ...payouts] = await Promise.all([
      client.patch(path, { destination: OTHER }),
      ...Array.from({ length: 12 }, () => client.createPayout(payTo(id))),
    ]);
    expect(change.status).toBe(200);
    for (const { status, json } of payouts) {
      if (status === 201) expect(json.data.destination.value).not.toBe(OTHER.value);
      else expect(json.error.code).toBe('recipient_not_ready');
    }
    expect((await client.createPayout(payTo(id))).status).toBe(409);
  });
});

describe('a payout that waits for its recipient', () => {
  const READY = { release: { recipient_ready: true } };
  const accepted = async (client: MerchantClient, body: Record<string, unknown>) => {
    const { status, json } = await client.createPayout(body);
    expect(status).toBe(201);
    return json.data.id as string;
  };

  test('to a recipient that will have stood for a day needs no review as a first use', async () => {
    const { client, accountId } = await openMerchant(gateway, { reviewAll: false });
    const { id } = await create(client);
    expect((await client.createPayout(payTo(id, READY))).json.data.status).toBe('requested');
    await setAccount(accountId, 'recipient_wait_hours = 23');
    const soon = await create(client, { destination: OTHER });
    const early = await client.createPayout(payTo(soon.id, READY));
    expect(early.json.data.status).toBe('under_review');
  });

  test('is cancelled with everything returned', async () => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const { id } = await create(client);
    const payout = await accepted(client, payTo(id, READY));
    expect((await client.post(`/payouts/${payout}/cancel`)).status).toBe(200);
    expect(await balanceOf(client)).toMatchObject({ reserved: '0.00000000' });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['without a recipient', { ...buildPayout(), ...READY }, 'release.recipient_ready'],
    [
      'with another value than true',
      payTo(newId('recipient'), { release: { recipient_ready: false } }),
      'release.recipient_ready',
    ],
  ])('%s is refused', async (_what, body, field) => {
    const { client } = await openMerchant(gateway);
    const { status, json } = await client.createPayout(body);
    expect([status, json.error.details.fields[0].field]).toEqual([422, field]);
  });
});

test('a live payout of an account that is held to recipients must name one', async () => {
  const { client, accountId } = await openMerchant(gateway);
  await setAccount(accountId, 'recipients_only = true, recipient_wait_hours = 0');
  const { status, json } = await client.createPayout(buildPayout());
  expect([status, json.error.code, json.error.details]).toEqual([
    403,
    'recipient_required',
    { held: 'account' },
  ]);
  const { id } = await create(client);
  expect((await client.createPayout(payTo(id))).status).toBe(201);
});
