/** What the database itself keeps of recipients, whatever a program does. */
import { connect } from '../../../src/db/connect';
import {
  noteRecipientVerdict,
  takeUnscreenedRecipients,
} from '../../../src/db/recipients/recipients';
import type { Db } from '../../../src/db/transaction';
import type { Recipient } from '../../../src/domain/recipient';
import { newId } from '../../../src/platform/lib/new-id';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { makeAccount } from '../../support/merchant/ledger';

let database: TestDatabase;
let owner: Db;
/** The login of the API, which writes recipients. */
let api: Db;
let worker: Db;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 2, applicationName: 'recipients-test' });
  [owner, api, worker] = [open(database.ownerUrl), open(database.apiUrl), open(database.workerUrl)];
  accountId = await makeAccount(owner);
});

afterAll(async () => {
  await Promise.all([owner.destroy(), api.destroy(), worker.destroy()]);
  await database.drop();
});

const WAIT = `extract(epoch FROM usable_from - destination_since) / 3600 AS hours`;

async function insert(mode: 'test' | 'live'): Promise<{ id: string; hours: string }> {
  const [row] = await api.query<{ id: string; hours: string }>(
    `INSERT INTO recipients (id, account_id, mode, name, currency, network, destination_type,
                             destination_value, created_by, destination_since, usable_from)
     VALUES (?, ?, ?, 'Ada', 'USDT', 'tron', 'crypto_address', 'T1', 'key_1', '2020-01-01', '2020-01-01')
     RETURNING id, ${WAIT}`,
    [newId('recipient'), accountId, mode],
  );
  return row!;
}

const change = (id: string, set: string, by = api) =>
  by.query<{ hours: string; since: Date }>(
    `UPDATE recipients SET ${set} WHERE id = ? RETURNING destination_since AS since, ${WAIT}`,
    [id],
  );

test('a live recipient waits, whatever the program writes; one of test mode does not', async () => {
  expect(Number((await insert('test')).hours)).toBe(0);
  const { id, hours } = await insert('live');
  expect(Number(hours)).toBe(24);
  const early = `name = 'Eve', usable_from = '2020-01-01'`;
  await expect(change(id, early)).rejects.toThrow('permission denied');
  const [named] = await change(id, early, owner);
  expect(Number(named!.hours)).toBe(24);
});

test('with a source a live destination is asked about from its change on, and the API writes no verdict', async () => {
  const screeningOf = async (id: string) => {
    const sql = 'SELECT screening FROM recipients WHERE id = ?';
    return (await owner.query<{ screening: string | null }>(sql, [id]))[0]!.screening;
  };
  const { id: early } = await insert('live');
  await owner.query(`INSERT INTO screening_sources (name, verdict) VALUES ('banned', 'block')`);
  const [{ id }, { id: test }] = [await insert('live'), await insert('test')];
  await change(early, `name = 'Eve'`);
  expect([await screeningOf(early), await screeningOf(id), await screeningOf(test)]).toEqual([
    null,
    'asking',
    null,
  ]);
  await expect(change(id, `screening = 'clear'`)).rejects.toThrow('permission denied');
  await change(id, `screening = 'clear'`, owner);
  await change(id, `name = 'Eve'`);
  expect(await screeningOf(id)).toBe('clear');
  await change(id, `destination_value = 'T2'`);
  expect(await screeningOf(id)).toBe('asking');
  await owner.query('DELETE FROM screening_sources');
});

test.each([
  `destination_value = 'T2'`,
  `destination_memo = '7'`,
  `network = 'ethereum'`,
  `currency = 'USDC'`,
  `destination_type = 'exchange_id'`,
])('a live recipient waits again from the change %s on', async (set) => {
  const { id } = await insert('live');
  await owner.query('UPDATE accounts SET recipient_wait_hours = 48 WHERE id = ?', [accountId]);
  const [before] = await change(id, `name = 'Eve'`);
  const [after] = await change(id, set);
  await owner.query('UPDATE accounts SET recipient_wait_hours = 24 WHERE id = ?', [accountId]);
  expect([Number(before!.hours), Number(after!.hours)]).toEqual([24, 48]);
  expect(after!.since.getTime()).toBeGreaterThan(before!.since.getTime());
});

test('a verdict about an earlier destination is not written', async () => {
  await owner.query(`INSERT INTO screening_sources (name, verdict) VALUES ('banned', 'block')`);
  const { id } = await insert('live');
  const take = async () =>
    (await takeUnscreenedRecipients(worker, 100)).find((one) => one.id === id);
  const note = (taken: Recipient | undefined) =>
    worker.transaction((tx) => noteRecipientVerdict(tx, taken!, 'clear'));
  const taken = await take();
  expect(taken).toMatchObject({ id, screening: 'asking' });
  expect(await take()).toBeUndefined();
  await change(id, `destination_value = 'T2'`);
  expect(await note(taken)).toBe(false);
  const again = await take();
  expect(await note(again)).toBe(true);
  expect(await note(again)).toBe(false);
  await owner.query('DELETE FROM screening_sources');
});

test('a recipient stays in its account and mode, and a deleted one does not change', async () => {
  const { id } = await insert('live');
  await expect(change(id, `mode = 'test'`, owner)).rejects.toThrow('stays in its account and mode');
  await change(id, 'deleted_at = now()');
  await expect(change(id, 'deleted_at = NULL')).rejects.toThrow('is deleted');
});

test('the API inserts the events of recipients, and no others', async () => {
  const event = (type: string) =>
    api.query(
      `INSERT INTO events (id, account_id, mode, type, object_id, sequence)
       VALUES (?, ?, 'test', ?, ?, 1)`,
      [newId('event'), accountId, type, newId('recipient')],
    );
  await event('recipient.created');
  await expect(event('payout.completed')).rejects.toThrow('row-level security');
});
