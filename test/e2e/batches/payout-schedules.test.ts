/** Schedules of payouts on real Temporal: what runs, what fails, and who sees it. */
import { newId } from '../../../src/platform/lib/new-id';
import { secondOf } from '../../../src/domain/payout-schedule';
import { WORKFLOWS } from '../../../workflows/names';
import { runAdmin } from '../../support/servers/gateway-admin';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);
let accountId: string;
let client: MerchantClient;

beforeAll(async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
  ({ accountId, client } = merchant);
});

const create = (overrides: Record<string, unknown> = {}, key = randomKey()) =>
  client.post(
    '/payout_schedules',
    {
      reference: `schedule-${randomKey()}`.slice(0, 40),
      interval_seconds: 5,
      payouts: [{ ...buildPayout(), reference: `row-${randomKey()}`.slice(0, 40) }],
      ...overrides,
    },
    { 'idempotency-key': key },
  );

const change = (id: string, verb: 'pause' | 'resume' | 'end') =>
  client.post(`/payout_schedules/${id}/${verb}`);

interface Run {
  id: string;
  status: string;
  scheduled_for: string;
  batch_id: string;
  failure: { code: string } | null;
}

const runsOf = async (id: string) =>
  (await client.get(`/payout_schedules/${id}/runs`)).json.data as Run[];

/** The runs, newest first, once there are as many with this status. */
const runs = (id: string, status: string, count: number) =>
  waitFor(`${count} runs of ${id} to be ${status}`, async () => {
    const found = await runsOf(id);
    const such = found.filter((run) => run.status === status);
    return such.length >= count ? such : undefined;
  });

const closed = (batchId: string) =>
  waitFor(`${batchId} to be closed`, async () => {
    const { json } = await client.get(`/payout_batches/${batchId}`);
    return json.data.closed_at === null ? undefined : json.data;
  });

test('a short interval runs twice and pays, until the schedule is paused and ended [endpoint POST /payout_schedules] [endpoint GET /payout_schedules] [endpoint GET /payout_schedules/{id}] [endpoint GET /payout_schedules/{id}/runs] [endpoint POST /payout_schedules/{id}/pause] [endpoint POST /payout_schedules/{id}/resume] [endpoint POST /payout_schedules/{id}/end]', async () => {
  const { status, json } = await create();
  expect([status, json.data.status, json.data.last_run]).toEqual([201, 'active', null]);
  const { id } = json.data;

  const [second, first] = (await runs(id, 'created', 2)) as [Run, Run];
  for (const run of [first, second]) {
    const batch = await closed(run.batch_id);
    expect([batch.status, batch.rows.sent]).toEqual(['completed', 1]);
  }
  const apart = Date.parse(second.scheduled_for) - Date.parse(first.scheduled_for);
  expect(apart % 5_000).toBe(0);

  expect((await change(id, 'pause')).json.data.status).toBe('paused');
  expect((await change(id, 'pause')).status).toBe(200);
  expect((await change(id, 'resume')).json.data.status).toBe('active');
  const ended = await change(id, 'end');
  expect([ended.json.data.status, ended.json.data.next_run_at]).toEqual(['ended', null]);
  expect((await change(id, 'resume')).json.error.code).toBe('invalid_state');
  const list = await client.get('/payout_schedules?limit=1');
  expect(list.json.data).toMatchObject([{ id }]);
  const events = await client.get(`/events?object_id=${id}&type=payout_schedule.run_created`);
  expect(events.json.data[0].data.last_run.batch_id).toMatch(/^pb_/);
  await isSound(gateway);
});

test('a run without funds is one event and pays nothing; after a deposit the next one pays', async () => {
  const payouts = [
    buildPayout({ currency: 'BTC', amount: '0.5', network: 'bitcoin', destination: BTC }),
  ];
  const { json } = await create({ payouts });
  const { id } = json.data;
  const [failed] = (await runs(id, 'failed', 1)) as [Run];
  expect(failed).toMatchObject({ batch_id: null, failure: { code: 'insufficient_balance' } });
  const { json: events } = await client.get(
    `/events?object_id=${id}&type=payout_schedule.run_failed`,
  );
  const all = events.data as { data: { last_run: Run } }[];
  const ofRun = all.filter(({ data }) => data.last_run.id === failed.id);
  expect(ofRun).toHaveLength(1);
  expect((await client.get('/payouts?currency=BTC')).json.data).toEqual([]);

  await fund(gateway.db, accountId, 'test', 'BTC', '3');
  const [created] = (await runs(id, 'created', 1)) as [Run];
  expect((await closed(created.batch_id)).status).toBe('completed');
  await change(id, 'end');
});

const BTC = { type: 'crypto_address', value: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' };

test('a time is run once, however often it is started, and no other time is run', async () => {
  const { json } = await create();
  const { id } = json.data;
  const [run] = (await runs(id, 'created', 1)) as [Run];
  await change(id, 'pause');
  const at = (time: Date) =>
    gateway.temporal.workflow.execute(WORKFLOWS.payoutScheduleRun, {
      workflowId: `${id}-${secondOf(time)}`,
      taskQueue: 'payouts',
      args: [{ scheduleId: id }],
    });
  await change(id, 'resume');
  expect(await at(new Date(run.scheduled_for))).toBe(run.batch_id);
  const other = new Date(Date.parse(run.scheduled_for) - 1_000);
  expect(await at(other)).toMatch(/no run of this time/);
  const later = await runsOf(id);
  expect(later.filter((one) => one.batch_id === run.batch_id)).toHaveLength(1);
  expect((await client.get(`/payouts?batch=${run.batch_id}`)).json.data).toHaveLength(1);
  await change(id, 'end');
});

test('a run that was opened before a pause fails, and is not pending for ever', async () => {
  const { json } = await create({ interval_seconds: 3_600 });
  const { id } = json.data;
  await change(id, 'pause');
  const start = new Date(json.data.start_at as string);
  await gateway.db.query(
    `INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, batch_id)
     VALUES (?, ?, ?, ?)`,
    [newId('payoutScheduleRun'), id, start, newId('payoutBatch')],
  );
  await gateway.temporal.workflow.execute(WORKFLOWS.payoutScheduleRun, {
    workflowId: `${id}-${secondOf(start)}`,
    taskQueue: 'payouts',
    args: [{ scheduleId: id }],
  });
  expect(await runsOf(id)).toMatchObject([
    { status: 'failed', failure: { code: 'invalid_state', details: { status: 'paused' } } },
  ]);
  await change(id, 'end');
});

test('an operator lists, pauses and resumes a schedule with the admin command', async () => {
  const { json } = await create({ interval_seconds: 3_600 });
  const { id } = json.data;
  const admin = (...args: string[]) => runAdmin(gateway, 'schedules', ...args);
  const why = ['--by', 'alice', '--reason', 'the merchant called'];
  const list = await admin('list', '--limit', '1000');
  expect(list.data).toContainEqual(
    expect.objectContaining({ id, status: 'active', account_id: accountId }),
  );
  expect(await admin('pause', id, ...why)).toMatchObject({ status: 'paused', next_run_at: null });
  await expect(admin('pause', id, ...why)).rejects.toThrow(`${id} is paused.`);
  const resumed = await admin('resume', id, ...why);
  expect(resumed).toMatchObject({ status: 'active', runs: [] });
  expect(resumed.next_run_at).not.toBeNull();
  const log = await runAdmin(gateway, 'audit', 'list', '--object', id);
  expect(log.data).toMatchObject([
    { action: 'payout_schedule.resume', by: 'alice' },
    { action: 'payout_schedule.pause', by: 'alice' },
  ]);
  await change(id, 'end');
  await expect(admin('resume', id, ...why)).rejects.toThrow(`${id} is ended.`);
  await expect(admin('show', 'ps_00000000000000000000000000')).rejects.toThrow('does not exist');
});

test('a run whose key has lost its scope, or was revoked, fails with that reason', async () => {
  const scopes = ['--scopes', 'payouts:read,payouts:write'];
  const key = await runAdmin(
    gateway,
    ...['keys', 'create', '--account', accountId, '--mode', 'test', ...scopes],
  );
  const own = new MerchantClient(gateway.baseUrl, key.secret);
  const body = {
    reference: `revoked-${randomKey()}`.slice(0, 40),
    interval_seconds: 5,
    payouts: [{ ...buildPayout(), reference: `row-${randomKey()}`.slice(0, 40) }],
  };
  const { json } = await own.post('/payout_schedules', body, { 'idempotency-key': randomKey() });
  const { id } = json.data;
  await runs(id, 'created', 1);
  const setScopes = (...now: string[]) =>
    gateway.db.query('UPDATE api_keys SET scopes = ? WHERE id = ?', [now, key.id]);
  await setScopes('payouts:read');
  const [narrowed] = (await runs(id, 'failed', 1)) as [Run];
  expect(narrowed.failure).toMatchObject({ code: 'insufficient_scope' });
  await setScopes('payouts:read', 'payouts:write');
  await runAdmin(gateway, 'keys', 'revoke', key.id);
  const revoked = await waitFor('a run of the revoked key to fail', async () =>
    (await runsOf(id)).find(({ failure }) => failure?.code === 'invalid_api_key'),
  );
  const before = (await runsOf(id)).filter(({ status }) => status === 'created').length;
  await runs(id, 'failed', (await runs(id, 'failed', 1)).length + 1);
  expect((await runsOf(id)).filter(({ status }) => status === 'created')).toHaveLength(before);
  expect(revoked.batch_id).toBeNull();
  await change(id, 'end');
});

test('a dry run answers with the faults, the fees and the next times, and stores nothing', async () => {
  const reference = `dry-${randomKey()}`.slice(0, 40);
  const long = 'x'.repeat(48);
  const rows = ['10', '0', '20'].map((amount, row) =>
    buildPayout({ amount, reference: row === 2 ? long : `dry-${row}` }),
  );
  const key = randomKey();
  const times = { cron: '0 9 1 * *', time_zone: 'Europe/Berlin', interval_seconds: undefined };
  const dry = await create(
    { ...times, reference, start_at: '2099-01-15T00:00:00Z', payouts: rows, dry_run: true },
    key,
  );
  expect(dry.status).toBe(200);
  expect(dry.json.data).toMatchObject({
    object: 'payout_schedule_check',
    valid: false,
    needs_second_person: false,
    missing: null,
    next_run_times: [
      '2099-02-01T08:00:00.000Z',
      '2099-03-01T08:00:00.000Z',
      '2099-04-01T07:00:00.000Z',
      '2099-05-01T07:00:00.000Z',
      '2099-06-01T07:00:00.000Z',
    ],
    totals: [{ currency: 'USDT', rows: 1, amount: '10.00000000' }],
  });
  const { refused_rows: refused, totals } = dry.json.data;
  expect(refused).toMatchObject([
    { row: 2, reference: 'dry-1', code: 'validation_failed' },
    { row: 3, reference: long, details: { fields: [{ field: 'reference', rule: 'too_long' }] } },
  ]);
  expect(Number(totals[0].network_fee)).toBeGreaterThan(0);
  const sound = { ...times, reference, payouts: [rows[0]] };
  expect((await create({ ...sound, dry_run: true }, key)).json.data.valid).toBe(true);
  const made = await create(sound, key);
  expect(made.status).toBe(201);
  await change(made.json.data.id, 'end');
});

test('times that never come are refused at their field', async () => {
  const never = await create({ cron: '0 0 30 2 *', interval_seconds: undefined });
  expect(never.json.error.details.fields).toMatchObject([{ field: 'cron', rule: 'out_of_range' }]);
  const past = await create({ end_at: '2020-01-01T00:00:00Z' });
  expect(past.json.error.details.fields).toMatchObject([{ field: 'end_at', rule: 'out_of_range' }]);
});

test('the next run of a cron is the first time of its dry run, in its zone', async () => {
  for (const name of ['Asia/Kolkata', 'Asia/Calcutta']) {
    const times = {
      interval_seconds: undefined,
      cron: '30 9 1 1 *',
      time_zone: name,
      start_at: '2027-01-01T00:00:00Z',
    };
    const dry = await create({ ...times, dry_run: true });
    const { json } = await create(times);
    const { id, time_zone: zone, next_run_at: next } = json.data;
    expect([zone, next]).toEqual([name, '2027-01-01T04:00:00.000Z']);
    expect(dry.json.data.next_run_times[0]).toBe(next);
    await change(id, 'end');
  }
});

test('two schedules do not have the same reference of a row', async () => {
  const payouts = [{ ...buildPayout(), reference: `rent-${randomKey()}`.slice(0, 40) }];
  const { json } = await create({ interval_seconds: 3_600, payouts });
  const { id } = json.data;
  const same = { code: 'duplicate_reference', details: { existing_id: id }, row: 1 };
  const dry = await create({ interval_seconds: 60, payouts, dry_run: true });
  expect(dry.json.data).toMatchObject({ valid: false, refused_rows: [same] });
  const refused = await create({ interval_seconds: 60, payouts });
  expect([refused.status, refused.json.error.details.rows]).toMatchObject([422, [same]]);
  await change(id, 'end');
  const again = await create({ interval_seconds: 3_600, payouts });
  expect(again.status).toBe(201);
  await change(again.json.data.id, 'end');
});

test('the active schedules of an account have a maximum, and their rows a minute as well', async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: {} });
  const made = (interval_seconds: number, rows: number) =>
    merchant.client.post(
      '/payout_schedules',
      {
        reference: randomKey().slice(0, 40),
        interval_seconds,
        payouts: Array.from({ length: rows }, () => ({
          ...buildPayout(),
          reference: randomKey().slice(0, 40),
        })),
      },
      { 'idempotency-key': randomKey() },
    );
  const flood = await made(5, 100);
  expect([flood.status, flood.json.error]).toMatchObject([
    409,
    { code: 'too_many_objects', details: { resource: 'payout_schedule_rows_a_minute' } },
  ]);
  const { json } = await made(3_600, 1);
  await gateway.db.query(
    `INSERT INTO payout_schedules (id, account_id, mode, reference, interval_seconds, start_at,
                                   payouts, totals, api_key_id, next_run_at)
     SELECT 'ps_' || n || right(id, 20), account_id, mode, id || n, interval_seconds, start_at,
            '[]', '[]', api_key_id, 'infinity'
       FROM payout_schedules, generate_series(1, 19) AS n WHERE id = ?`,
    [json.data.id],
  );
  const details = { resource: 'payout_schedule', maximum: 20 };
  expect((await made(3_600, 1)).json.error).toMatchObject({ code: 'too_many_objects', details });
  const verb = (id: string, what: string) =>
    merchant.client.post(`/payout_schedules/${id}/${what}`);
  expect((await verb(json.data.id, 'pause')).status).toBe(200);
  const other = await made(3_600, 1);
  expect(other.status).toBe(201);
  expect((await verb(json.data.id, 'resume')).json.error.code).toBe('too_many_objects');
  await gateway.db.query(
    `UPDATE payout_schedules SET status = 'ended', ended_at = now() WHERE account_id = ? AND status <> 'ended'`,
    [merchant.accountId],
  );
});

test('faulty rows and times are refused with their fields, and a key is used once', async () => {
  const refused = await create({ payouts: [buildPayout({ network: 'nowhere' })] });
  expect([refused.status, refused.json.error.code]).toEqual([422, 'rows_refused']);
  const { json } = await create({ cron: '* * *', interval_seconds: undefined });
  expect(json.error.details.fields).toMatchObject([{ field: 'cron', rule: 'format' }]);
  const key = randomKey();
  const body = {
    reference: `once-${randomKey()}`.slice(0, 40),
    interval_seconds: 3_600,
    payouts: [buildPayout({ reference: `one-${randomKey()}`.slice(0, 40) })],
  };
  const first = await create(body, key);
  expect((await create(body, key)).text).toBe(first.text);
  expect((await create(body)).json.error.code).toBe('duplicate_reference');
  await change(first.json.data.id, 'end');
});
