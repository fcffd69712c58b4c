/** Schedules of payouts on real Temporal: what runs, what fails, and who sees it. */
import { newId } from '../../../src/platform/lib/new-id';
import { secondOf } from '../../../src/domain/payout-schedule';
import { WORKFLOWS } from '../../../workflows/names';
import { runAdmin } from '../../support/servers/gateway-admin';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, buildSchedule, MerchantClient } from '../../support/merchant/merchant-client';
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

const create = (overrides: Record<string, unknown> = {}, key?: string) =>
  client.create('/payout_schedules', buildSchedule(overrides), key);

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

test.concurrent(
  'a short interval runs twice and pays, until the schedule is paused and ended [endpoint POST /payout_schedules] [endpoint GET /payout_schedules] [endpoint GET /payout_schedules/{id}] [endpoint GET /payout_schedules/{id}/runs] [endpoint POST /payout_schedules/{id}/pause] [endpoint POST /payout_schedules/{id}/resume] [endpoint POST /payout_schedules/{id}/end]',
  async () => {
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
    const list = await client.get('/payout_schedules?limit=100');
    expect(list.json.data).toContainEqual(expect.objectContaining({ id, status: 'ended' }));
    const events = await client.get(`/events?object_id=${id}&type=payout_schedule.run_created`);
    expect(events.json.data[0].data.last_run.batch_id).toMatch(/^pb_/);
    await isSound(gateway);
  },
);

test.concurrent(
  'a run without funds is one event and pays nothing; after a deposit the next one pays',
  async () => {
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
  },
);

const BTC = { type: 'crypto_address', value: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' };

test.concurrent(
  'a time is run once, however often it is started, and no other time is run',
  async () => {
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
  },
);

test.concurrent(
  'a run that was opened before a pause fails, and is not pending for ever',
  async () => {
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
  },
);

test.concurrent(
  'an operator lists, pauses and resumes a schedule with the admin command',
  async () => {
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
  },
);

test.concurrent(
  'a run whose key has lost its scope, or was revoked, fails with that reason',
  async () => {
    const scopes = ['--scopes', 'payouts:read,payouts:write'];
    const key = await runAdmin(
      gateway,
      ...['keys', 'create', '--account', accountId, '--mode', 'test', ...scopes],
    );
    const own = new MerchantClient(gateway.baseUrl, key.secret);
    const { json } = await own.create('/payout_schedules', buildSchedule());
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
  },
);
