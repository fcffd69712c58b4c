/** Schedules of payouts over HTTP: what is refused, what a dry run says, and how many an account may have. */
import { isSound } from '../../support/servers/gateway';
import {
  buildPayout,
  buildSchedule,
  type MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);
let client: MerchantClient;

beforeAll(async () => {
  ({ client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } }));
});

const create = (overrides: Record<string, unknown> = {}, key?: string) =>
  client.create('/payout_schedules', buildSchedule(overrides), key);

const change = (id: string, verb: 'pause' | 'resume' | 'end') =>
  client.post(`/payout_schedules/${id}/${verb}`);

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
    merchant.client.create('/payout_schedules', {
      ...{ reference: randomKey(), interval_seconds },
      payouts: Array.from({ length: rows }, () => buildPayout({ reference: randomKey() })),
    });
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
  const body = buildSchedule({ interval_seconds: 3_600 });
  const first = await create(body, key);
  expect((await create(body, key)).text).toBe(first.text);
  expect((await create(body)).json.error.code).toBe('duplicate_reference');
  await change(first.json.data.id, 'end');
});
