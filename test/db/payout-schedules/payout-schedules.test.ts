/** Which runs of schedules are opened, at which times, and in whose turn. Played through the activities over a real database. */
import { openScheduleRuns } from '../../../activities/payout-schedule/open';
import { runPayoutSchedule, type ScheduleDeps } from '../../../activities/payout-schedule/run';
import {
  deleteOldRuns,
  listScheduleRuns,
} from '../../../src/db/payout-schedules/payout-schedule-runs';
import {
  changePayoutSchedule,
  getPayoutSchedule,
  insertPayoutSchedule,
  listDueSchedules,
} from '../../../src/db/payout-schedules/payout-schedules';
import type { Mode } from '../../../src/domain/mode';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { createMerchant, fund } from '../../support/merchant/merchant';
import { startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);
const HOUR = 3_600_000;

const neverAsked = () => Promise.reject(new Error('the rows were read'));
const toldNobody = { ensureRunning: () => Promise.resolve() };
const deps = (): ScheduleDeps => ({
  ...world,
  checkRows: neverAsked,
  scheduleRunWorkflows: toldNobody,
  payoutBatchWorkflows: toldNobody,
});

/** Nothing of the tests before is due. */
beforeEach(() =>
  world.db.query(
    `UPDATE payout_schedules SET status = 'ended', ended_at = now() WHERE status <> 'ended'`,
  ),
);

async function createKey(mode: Mode): Promise<{ accountId: string; apiKeyId: string }> {
  const { accountId } = await createMerchant(world.db, 'pepper');
  const [key] = await world.db.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = ? AND mode = ?',
    [accountId, mode],
  );
  return { accountId, apiKeyId: key!.id };
}

interface Wish {
  mode?: Mode;
  /** How long ago it started: its times are then whole hours later. */
  hoursAgo?: number;
  nextHoursAgo?: number;
  endsHoursAgo?: number;
}

async function createSchedule(
  merchant: { accountId: string; apiKeyId: string },
  { mode = 'test', hoursAgo = 100, nextHoursAgo = 1, endsHoursAgo }: Wish = {},
) {
  const id = newId('payoutSchedule');
  const start = Math.floor(Date.now() / 1_000) * 1_000 - hoursAgo * HOUR;
  const at = (hours: number) => new Date(start + (hoursAgo - hours) * HOUR);
  await world.db.transaction((tx) =>
    insertPayoutSchedule(tx, {
      ...merchant,
      id,
      mode,
      reference: id,
      description: null,
      cron: null,
      timeZone: null,
      intervalSeconds: 3_600,
      startAt: new Date(start),
      endAt: endsHoursAgo === undefined ? null : at(endsHoursAgo),
      payouts: [],
      totals: [{ currency: 'USDT', rows: 1, amount: amount('10') }],
    }),
  );
  await world.db.query('UPDATE payout_schedules SET next_run_at = ? WHERE id = ?', [
    at(nextHoursAgo),
    id,
  ]);
  return { id, at };
}

const runsOf = async (id: string) =>
  (await listScheduleRuns(world.db, id, { limit: 100, after: null })).items;
const endRuns = (id: string) =>
  world.db.query(
    `UPDATE payout_schedule_runs SET status = 'created', ended_at = now()
      WHERE schedule_id = ? AND status = 'pending'`,
    [id],
  );
const eventsOf = (id: string) =>
  world.db.query<{ type: string }>(
    'SELECT type FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );

test('a time is opened once by two workers, at exactly the time that the schedule showed', async () => {
  const { id, at } = await createSchedule(await createKey('test'), { nextHoursAgo: 0 });
  await Promise.all([openScheduleRuns(deps()), openScheduleRuns(deps())]);
  expect(await runsOf(id)).toMatchObject([{ scheduledFor: at(0), status: 'pending' }]);
  expect((await getPayoutSchedule(world.db, id)).nextRunAt).toEqual(at(-1));
});

test('missed times come one after the other, each after the run before it', async () => {
  const { id, at } = await createSchedule(await createKey('test'), { nextHoursAgo: 2 });
  for (const hours of [2, 1, 0]) {
    await openScheduleRuns(deps());
    await openScheduleRuns(deps());
    expect((await runsOf(id))[0]).toMatchObject({ scheduledFor: at(hours), status: 'pending' });
    await endRuns(id);
  }
  await openScheduleRuns(deps());
  expect(await runsOf(id)).toHaveLength(3);
});

test('times that are more than 24 hours late have one failed run with a reason and an event', async () => {
  const { id, at } = await createSchedule(await createKey('test'), { nextHoursAgo: 60 });
  await openScheduleRuns(deps());
  expect(await runsOf(id)).toMatchObject([
    { scheduledFor: at(60), status: 'failed', failure: { code: 'service_unavailable' } },
  ]);
  expect(await eventsOf(id)).toEqual([{ type: 'payout_schedule.run_failed' }]);
  const { nextRunAt } = await getPayoutSchedule(world.db, id);
  expect([at(24), at(23)]).toContainEqual(nextRunAt);
});

test('a message to Temporal about a time that was not opened pays nothing', async () => {
  const { id, at } = await createSchedule(await createKey('test'));
  expect(await runPayoutSchedule(deps(), id, at(0))).toMatch(/no run of this time/);
  expect(await runsOf(id)).toEqual([]);
});

test('a schedule ends with an event after its end, and not before its last run has ended', async () => {
  const wish = { nextHoursAgo: 1, endsHoursAgo: 0.5 };
  const { id, at } = await createSchedule(await createKey('test'), wish);
  await openScheduleRuns(deps());
  expect(await runsOf(id)).toMatchObject([{ scheduledFor: at(1), status: 'pending' }]);
  expect(await getPayoutSchedule(world.db, id)).toMatchObject({
    status: 'active',
    nextRunAt: null,
  });
  await openScheduleRuns(deps());
  expect((await getPayoutSchedule(world.db, id)).status).toBe('active');
  await endRuns(id);
  await openScheduleRuns(deps());
  expect((await getPayoutSchedule(world.db, id)).status).toBe('ended');
  expect(await eventsOf(id)).toEqual([{ type: 'payout_schedule.ended' }]);
});

test('a schedule that is paused past its end has ended', async () => {
  const { id } = await createSchedule(await createKey('test'), { endsHoursAgo: 1 });
  await changePayoutSchedule(world.db, id, 'pause');
  await openScheduleRuns(deps());
  expect((await getPayoutSchedule(world.db, id)).status).toBe('ended');
  expect(await runsOf(id)).toEqual([]);
});

test('accounts take turns, and a test key has no place of live mode', async () => {
  const [busy, other] = [await createKey('test'), await createKey('test')];
  const flood: string[] = [];
  for (let n = 0; n < 6; n += 1) flood.push((await createSchedule(busy, { nextHoursAgo: 9 })).id);
  const waiting = await createSchedule(other, { nextHoursAgo: 1 });
  const live = await createSchedule(await createKey('live'), { mode: 'live', nextHoursAgo: 1 });
  const due = (mode: Mode, limit: number) =>
    listDueSchedules(world.db, { mode, limit, ofAccount: 2 });
  const first = await due('test', 2);
  expect([flood.includes(first[0]!), first[1]]).toEqual([true, waiting.id]);
  expect(await due('test', 20)).toHaveLength(3);
  expect(await due('live', 20)).toEqual([live.id]);
  await openScheduleRuns(deps());
  await openScheduleRuns(deps());
  const pending = await world.db.query<{ id: string }>(
    `SELECT schedule_id AS id FROM payout_schedule_runs r JOIN payout_schedules s ON s.id = schedule_id
      WHERE r.status = 'pending' AND s.account_id = ?`,
    [busy.accountId],
  );
  expect(pending).toHaveLength(2);
  expect(await runsOf(live.id)).toHaveLength(1);
});

test('a run that the balance does not cover fails before its rows are read', async () => {
  const merchant = await createKey('test');
  const { id, at } = await createSchedule(merchant);
  await fund(world.db, merchant.accountId, 'test', 'USDT', '9.99');
  await openScheduleRuns(deps());
  await runPayoutSchedule(deps(), id, at(1));
  expect(await runsOf(id)).toMatchObject([
    { status: 'failed', failure: { code: 'insufficient_balance' } },
  ]);
});

test('old runs are forgotten, except the last one of each schedule', async () => {
  const { id } = await createSchedule(await createKey('test'), { nextHoursAgo: 2 });
  for (let n = 0; n < 3; n += 1) {
    await openScheduleRuns(deps());
    await endRuns(id);
  }
  const [last, , first] = await runsOf(id);
  await world.db.query(
    `UPDATE payout_schedule_runs SET ended_at = now() - interval '8 days' WHERE id = ANY (?::text[])`,
    [[last!.id, first!.id]],
  );
  await world.db.query('UPDATE payout_schedules SET last_run_id = ? WHERE id = ?', [last!.id, id]);
  await deleteOldRuns(world.db, 100);
  const kept = (await runsOf(id)).map((run) => run.id);
  expect([kept.length, kept.includes(first!.id)]).toEqual([2, false]);
});
