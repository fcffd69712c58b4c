/**
 * GET /events (decisions/webhooks#events-list, decisions/webhooks#events-feed and decisions/webhooks#long-poll): a list, newest first,
 * and a feed with `after`, whose reader meets every event once, however late a transaction commits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/db/connect';
import { appendEvent, withEvents } from '../../../src/db/webhooks/events';
import type { Db, Tx } from '../../../src/db/transaction';
import type { EventType } from '../../../src/domain/events';
import type { Mode } from '../../../src/domain/mode';
import { SCOPES } from '../../../src/domain/scopes';
import { newId } from '../../../src/platform/lib/new-id';
import type { EventObject } from '../../../src/features/webhooks/events-contract';
import { DOCUMENT } from '../../support/merchant/contract';
import { type ApiAnswer, MerchantClient } from '../../support/merchant/merchant-client';
import { chooseSeed, createDice } from '../../support/seeded-random';
import { type Gateway, type Harness, startHarness } from '../http-harness';
import { waitFor } from '../../support/wait-for';
import { walkList } from '../../support/merchant/listed-rows';

let harness: Harness;
let gateway: Gateway;
/** Enough connections for all writers of a test. */
let writers: Db;

beforeAll(async () => {
  harness = await startHarness();
  gateway = await harness.startGateway();
  writers = connect({ url: harness.database.ownerUrl, size: 8, applicationName: 'test-writers' });
});
afterAll(async () => {
  await writers.destroy();
  await harness.stop();
});

const EXAMPLE = DOCUMENT.paths['/events']!['get']!.responses['200']!.content['application/json']!
  .example as { data: [EventObject] };

interface Wish {
  type?: EventType;
  mode?: Mode;
  objectId?: string;
  createdAt?: Date;
}

async function openAccount() {
  const { accountId, secret } = await harness.createKey();
  return { accountId, client: new MerchantClient(`${gateway.url}/api/v1`, secret) };
}

async function append(db: Db | Tx, accountId: string, wish: Wish = {}): Promise<EventObject> {
  const { type = 'payout.completed', mode = 'test', objectId = newId('payout') } = wish;
  const { createdAt = new Date() } = wish;
  const id = newId('event');
  const event: EventObject = { ...EXAMPLE.data[0], id, type, mode, sequence: 1 };
  const body = Buffer.from(JSON.stringify(event));
  const write = (tx: Tx): void => {
    appendEvent(withEvents(tx), {
      id,
      accountId,
      mode,
      type,
      objectId,
      sequence: 1,
      body,
      createdAt,
    });
  };
  await ('savepoint' in db ? db.savepoint(write) : db.transaction(write));
  return event;
}

const OLDEST = '&after=oldest';

const idsOf = (events: { id: string }[]): string[] => events.map(({ id }) => id);

/** All events from `start` on, such as `&after=latest`, as a reader that never waits gets them. */
async function readAll(client: MerchantClient, { start = OLDEST, filters = '', limit = 3 } = {}) {
  const met: EventObject[] = [];
  for (let from = start; ;) {
    const { status, text, json } = await client.get(`/events?limit=${limit}${filters}${from}`);
    if (status !== 200) throw new Error(text);
    met.push(...json.data);
    from = `&cursor=${json.meta.next_cursor}`;
    if (json.data.length === 0) return { met, from };
  }
}

/** Another database of the cluster may have a running transaction, which holds the feed back. */
async function whenListed(client: MerchantClient, count: number) {
  await waitFor(`${count} events`, async () => (await readAll(client)).met.length === count);
}

test('a page of the feed has the bodies of the webhooks, oldest first, of this account and mode', async () => {
  const { accountId, client } = await openAccount();
  const sent = [await append(writers, accountId), await append(writers, accountId)];
  await append(writers, accountId, { mode: 'live' });
  await append(writers, (await openAccount()).accountId);
  await append(writers, accountId, { type: 'webhook.ping' });
  sent.push(await append(writers, accountId));
  await whenListed(client, 3);
  const first = await client.get('/events?limit=2&after=oldest');
  expect(first.json.data).toEqual(sent.slice(0, 2));
  const next = new URL(first.json.links.next);
  expect(next.searchParams.get('cursor')).toBe(first.json.meta.next_cursor);
  const second = await client.get(next.pathname.replace('/api/v1', '') + next.search);
  expect(second.json.data).toEqual(sent.slice(2));
  const third = await client.get(`/events?cursor=${second.json.meta.next_cursor}`);
  expect(third.json).toMatchObject({
    data: [],
    meta: { next_cursor: second.json.meta.next_cursor },
  });
});

test('an event is retrieved while its body is kept [endpoint GET /events/{id}]', async () => {
  const { accountId, client } = await openAccount();
  const sent = await append(writers, accountId, { type: 'payout.completed' });
  expect((await client.get(`/events/${sent.id}`)).json).toEqual({ data: sent });
  expect(await client.get(`/events/${newId('event')}`)).toMatchObject({
    status: 404,
    json: {
      error: {
        code: 'not_found',
        details: { resource: 'event' },
        doc_url: expect.stringMatching(/\/docs\/errors\/not_found$/),
      },
    },
  });
  await harness.owner.query('UPDATE events SET body = NULL WHERE id = ?', [sent.id]);
  expect(await client.get(`/events/${sent.id}`)).toMatchObject({
    status: 410,
    json: { error: { code: 'cursor_expired' } },
  });
});

test('the list is newest first, and its cursor ends [endpoint GET /events]', async () => {
  const { accountId, client } = await openAccount();
  const objectId = newId('payout');
  const day = (n: number) => new Date(Date.parse('2026-03-01T00:00:00Z') + n * 86_400_000);
  const sent: EventObject[] = [];
  for (const n of [0, 1, 2, 3]) {
    const type = n === 1 ? ('payout.failed' as const) : ('payout.completed' as const);
    const own = n === 2 ? { objectId } : {};
    sent.push(await append(writers, accountId, { type, createdAt: day(n), ...own }));
  }
  await append(writers, accountId, { mode: 'live' });
  await append(writers, (await openAccount()).accountId, { objectId: newId('payout') });
  await append(writers, accountId, { type: 'webhook.ping' });
  const newestFirst = [...sent].reverse();
  const first = await client.get('/events?limit=3');
  expect(first.json.data).toEqual(newestFirst.slice(0, 3));
  const next = new URL(first.json.links.next);
  expect(next.searchParams.get('cursor')).toBe(first.json.meta.next_cursor);
  const second = await client.get(next.pathname.replace('/api/v1', '') + next.search);
  expect(second.json).toMatchObject({
    data: newestFirst.slice(3),
    links: { next: null },
    meta: { next_cursor: null },
  });
  const listed = async (query: string) => {
    const get = (path: string) => client.get(path);
    expect(idsOf(await walkList(get, `/events?limit=1&${query}`))).toEqual(
      idsOf((await client.get(`/events?${query}`)).json.data),
    );
    return idsOf((await client.get(`/events?${query}`)).json.data);
  };
  const ids = idsOf(newestFirst);
  expect(await listed('type=payout.failed')).toEqual([ids[2]]);
  expect(await listed(`object_id=${objectId}`)).toEqual([ids[1]]);
  expect(await listed(`object_id=${objectId}&type=payout.failed`)).toEqual([]);
  expect(await listed('created_from=2026-03-02&created_to=2026-03-03')).toEqual(ids.slice(1, 3));
  const feed = (await readAll(client, { filters: '&type=payout.failed' })).from;
  expect(fieldsOf(await client.get(`/events?type=payout.completed${feed}`))).toEqual(['cursor']);
  expect(fieldsOf(await client.get('/events?wait=1'))).toEqual(['wait']);
  expect(fieldsOf(await client.get('/events?after=oldest&created_from=2026-03-02'))).toEqual([
    'created_from',
  ]);
});

test('the list of an account or mode has no event of another, and none whose body was deleted', async () => {
  const { accountId, client } = await openAccount();
  const old = new Date(Date.now() - 31 * 86_400_000);
  await append(writers, accountId, { createdAt: old });
  const kept = await append(writers, accountId);
  const theirs = { objectId: newId('payout') };
  const live = { objectId: newId('payout'), mode: 'live' } as const;
  await append(writers, (await openAccount()).accountId, theirs);
  await append(writers, accountId, live);
  await writers.query('SELECT forget_event_bodies(1000)');
  expect(idsOf((await client.get('/events')).json.data)).toEqual([kept.id]);
  for (const { objectId } of [theirs, live]) {
    expect((await client.get(`/events?object_id=${objectId}`)).json.data).toEqual([]);
  }
});

test('an event that commits late is not passed over, whatever was committed after it began', async () => {
  const { accountId, client } = await openAccount();
  const late = await writers.begin();
  const first = await append(late, accountId);
  const second = await append(writers, accountId);
  const naive = () =>
    writers.query<{ id: string }>('SELECT id FROM events WHERE account_id = ?', [accountId]);
  expect(idsOf(await naive())).toEqual([second.id]);
  const before = await readAll(client);
  expect(before.met).toEqual([]);
  await late.commit();
  const { met } = await waitFor('both events', async () => {
    const read = await readAll(client, { start: before.from });
    return read.met.length > 0 ? read : undefined;
  });
  expect(idsOf(met)).toEqual([first.id, second.id]);
});

test('a reader meets every event once while writers commit slowly, in any order, or not at all', async () => {
  const { accountId, client } = await openAccount();
  const seed = chooseSeed();
  process.stderr.write(`events feed: TEST_SEED=${seed}\n`);
  const { roll } = createDice(seed);
  const committed: string[] = [];
  let writing = true;
  const write = async () => {
    for (let n = 0; n < 8; n++) {
      const tx = await writers.begin();
      await sleep(roll(15));
      const ids = [await append(tx, accountId), await append(tx, accountId)].map(({ id }) => id);
      await sleep(roll(40));
      if (roll(7) === 0) await tx.rollback();
      else await tx.commit().then(() => committed.push(...ids));
    }
  };
  const met: string[] = [];
  const read = async (): Promise<string> => {
    let from = OLDEST;
    while (writing) {
      const { json } = await client.get(`/events?limit=5&wait=1${from}`);
      met.push(...idsOf(json.data));
      from = `&cursor=${json.meta.next_cursor}`;
    }
    return from;
  };
  const reading = read();
  await Promise.all(Array.from({ length: 6 }, write));
  writing = false;
  const from = await reading;
  await whenListed(client, committed.length);
  met.push(...idsOf((await readAll(client, { start: from })).met));
  expect(new Set(met).size).toBe(met.length);
  expect([...met].sort()).toEqual([...committed].sort());
  expect(committed.length).toBeGreaterThan(50);
});

test('filters leave out other types and objects; their cursors belong to them', async () => {
  const { accountId, client } = await openAccount();
  const objectId = newId('payment');
  const paid = await append(writers, accountId, { type: 'payment.completed', objectId });
  const failed = await append(writers, accountId, { type: 'payout.failed' });
  const sent = await append(writers, accountId, { type: 'payout.completed' });
  await whenListed(client, 3);
  const listed = async (filters: string) => idsOf((await readAll(client, { filters })).met);
  expect(await listed('&type=payout.failed')).toEqual([failed.id]);
  expect(await listed('&type=payout.completed,payment.completed')).toEqual([paid.id, sent.id]);
  expect(await listed(`&object_id=${objectId}`)).toEqual([paid.id]);
  expect(await listed(`&object_id=${objectId}&type=payout.failed`)).toEqual([]);
  const { from } = await readAll(client, { filters: '&type=payout.failed' });
  expect((await client.get(`/events?type=payout.failed&limit=1${from}`)).status).toBe(200);
  expect(fieldsOf(await client.get(`/events?type=payout.completed${from}`))).toEqual(['cursor']);
  expect(fieldsOf(await client.get(`/events?limit=1${from}&after=latest`))).toEqual(['after']);
});

test('the events and the place of another account or mode are not shown', async () => {
  const { accountId, client } = await openAccount();
  const theirs = { objectId: newId('payout') };
  const live = { objectId: newId('payout'), mode: 'live' } as const;
  const others = [
    await append(writers, (await openAccount()).accountId, theirs),
    await append(writers, accountId, live),
  ];
  await append(writers, accountId);
  await whenListed(client, 1);
  for (const { objectId } of [theirs, live]) {
    const { met } = await readAll(client, { filters: `&object_id=${objectId}` });
    expect(met).toEqual([]);
  }
  for (const { id } of others) {
    const answer = await client.get(`/events?after=${id}`);
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['after']]);
  }
});

const fieldsOf = ({ json }: ApiAnswer): string[] =>
  (json.error.details.fields as { field: string }[]).map(({ field }) => field);

test.each([
  ['type=', 'type'],
  ['type=payout.unknown', 'type'],
  ['type=webhook.ping', 'type'],
  ['object_id=po_1', 'object_id'],
  ['after=', 'after'],
  ['after=po_01M7YESA634WQFACSBWYSTKM76', 'after'],
  ['after=evt_01M7YESA634WQFACSBWYSTKM76', 'after'],
  ['after=oldest&wait=31', 'wait'],
  ['wait=5', 'wait'],
  ['wait=-1', 'wait'],
  ['wait=1.5', 'wait'],
  ['limit=0', 'limit'],
  ['cursor=x', 'cursor'],
])('?%s is refused', async (query, field) => {
  const { client } = await openAccount();
  const answer = await client.get(`/events?${query}`);
  expect([answer.status, fieldsOf(answer)]).toEqual([422, [field]]);
});

test('reading events needs its scope [scope events:read]', async () => {
  const without = SCOPES.filter((scope) => scope !== 'events:read');
  const { secret } = await harness.createKey({ scopes: without });
  const { status, json } = await new MerchantClient(`${gateway.url}/api/v1`, secret).get('/events');
  expect([status, json.error.details]).toEqual([403, { required_scope: 'events:read' }]);
});

test('requests that wait hold no connection, and each gets the event that it waits for', async () => {
  const { accountId, client } = await openAccount();
  const other = await openAccount();
  const old = await append(writers, accountId);
  await whenListed(client, 1);
  const wait = (filter = '') => client.get(`/events?wait=25&after=${old.id}${filter}`);
  const all = Array.from({ length: 20 }, () => wait());
  const [failures, foreign] = [
    wait('&type=payout.failed'),
    other.client.get('/events?wait=2&after=oldest'),
  ];
  // More requests wait than the pool has connections.
  expect((await client.get('/balance')).status).toBe(200);
  await sleep(500);
  const sent = await append(writers, accountId);
  for (const answer of all) expect(idsOf((await answer).json.data)).toEqual([sent.id]);
  const failed = await append(writers, accountId, { type: 'payout.failed' });
  expect(idsOf((await failures).json.data)).toEqual([failed.id]);
  expect((await foreign).json.data).toEqual([]);
  expect((await client.get(`/events?wait=25&after=${old.id}&limit=1`)).json.data).toEqual([sent]);
});

test('a gateway that stops answers those who wait', async () => {
  const stopping = await harness.startGateway();
  const { id, secret } = await harness.createKey();
  const client = new MerchantClient(`${stopping.url}/api/v1`, secret);
  const waiting = client.get('/events?wait=25&after=oldest');
  await waitFor('the request to be authenticated', async () => {
    const [key] = await writers.query(
      'SELECT FROM api_keys WHERE id = ? AND last_used_at IS NOT NULL',
      [id],
    );
    return key;
  });
  await sleep(300);
  await stopping.stop();
  expect((await waiting).json.data).toEqual([]);
});

test('a cursor whose next events were deleted is refused; from the oldest on, the feed starts with what is kept', async () => {
  const { accountId, client } = await openAccount();
  const old = new Date(Date.now() - 31 * 86_400_000);
  const first = await append(writers, accountId, { createdAt: old });
  await whenListed(client, 1);
  const { from } = await readAll(client);
  expect((await readAll(client, { start: from })).met).toEqual([]);
  await append(writers, accountId, { createdAt: old });
  const kept = await append(writers, accountId);
  await whenListed(client, 3);
  await writers.query('SELECT forget_event_bodies(1000)');
  for (const start of [from, `&after=${first.id}`]) {
    const { status, json } = await client.get(`/events?limit=3${start}`);
    expect([status, json.error.code]).toEqual([410, 'cursor_expired']);
  }
  expect(idsOf((await readAll(client)).met)).toEqual([kept.id]);
  // Events of another type were not deleted.
  expect((await client.get(`/events?type=payout.failed&after=${first.id}`)).status).toBe(200);
});

test('after a restore a cursor of the lost time is refused, and a loaded dump goes on behind its events', async () => {
  const { accountId, client } = await openAccount();
  await append(writers, accountId);
  await whenListed(client, 1);
  const { from } = await readAll(client);
  await writers.query(
    `UPDATE event_clock SET shift = -pg_snapshot_xmax(pg_current_snapshot())::text::bigint / 2`,
  );
  expect((await client.get(`/events?limit=3${from}`)).status).toBe(410);
  expect((await client.get('/events?after=oldest')).json.data).toEqual([]);
  await writers.query('SELECT align_event_clock()');
  const sent = await append(writers, accountId);
  await whenListed(client, 2);
  expect(idsOf((await readAll(client, { start: from })).met)).toEqual([sent.id]);
});
