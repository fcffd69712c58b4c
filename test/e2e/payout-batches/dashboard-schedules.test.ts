/** Schedules that people made on the dashboard, when their time comes: who approves them, and who may still pay. */
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { createMerchant } from '../../support/merchant/merchant';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import {
  ADDRESS,
  DAILY,
  openSchedules,
  SCHEDULES,
  tableOf,
} from '../../support/merchant/schedule-pages';

const gateway = started(useSharedGateway, isSound);
const account = started(() => openSchedules(gateway));
let checker: PageClient;
let checkerUser: TestUser;

beforeAll(async () => {
  [checker, checkerUser] = await account.enter('owner');
});

const lastRun = (id: string, status: string) =>
  waitFor(`a run of ${id} to be ${status}`, async () => {
    const { last_run: run } = await account.read(id);
    return run?.status === status ? run : undefined;
  });

/** The shortest interval of the form is a minute. */
async function quicken(id: string): Promise<void> {
  await gateway.db.query('UPDATE payout_schedules SET interval_seconds = 5 WHERE id = ?', [id]);
  for (const verb of ['pause', 'resume']) await account.api.post(`/payout_schedules/${id}/${verb}`);
}

test('above the amount its runs pay nothing until another person approves it, and a batch does not ask again', async () => {
  const form = { reference: 'salaries', ...DAILY, table: tableOf('60', '60') };
  const checked = await account.send('new', form);
  expect(checked.text).toContain('Another person of your account');
  const id = await account.create(form);
  expect(await account.read(id)).toMatchObject({ awaits_second_person: true });
  await quicken(id);

  const failed = await lastRun(id, 'failed');
  expect(failed.failure.message).toContain('waits for a second person');
  expect((await account.api.get('/payouts?limit=1')).json.data).toEqual([]);
  expect(await account.show(id)).toContain('Waiting for two-person approval');
  expect(await account.show(id)).not.toContain(`second-person/${id}/approve`);
  const approve = (by: PageClient) =>
    by.post(`/dashboard/test/second-person/${id}/approve`, { version: '' });
  expect((await approve(account.maker)).status).toBe(409);
  expect((await approve(account.viewer)).status).toBe(403);
  expect(await account.read(id)).toMatchObject({ awaits_second_person: true });
  expect(await account.show(id, checker)).toContain(`second-person/${id}/approve`);
  expect((await approve(checker)).status).toBe(303);
  expect(await account.read(id)).toMatchObject({ awaits_second_person: false });

  const { batch_id: batchId } = await lastRun(id, 'created');
  await waitFor(`${batchId} to complete`, async () => {
    const { status } = (await account.api.get(`/payout_batches/${batchId}`)).json.data;
    return status === 'completed' ? true : undefined;
  });
  expect(await account.show(id)).toContain(`batches/${batchId}`);
  expect(await account.show(id)).toContain(
    'waits for a second person, and nothing of this run was paid',
  );

  // An approval counts as long as that person may approve.
  await gateway.db.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = ?`, [
    checkerUser.id,
  ]);
  expect(await account.read(id)).toMatchObject({ awaits_second_person: true });
  await lastRun(id, 'failed');
  await gateway.db.query(`UPDATE memberships SET role = 'owner' WHERE user_id = ?`, [
    checkerUser.id,
  ]);
  // What the second person approved does not count against the person who made it.
  await account.maker.post(`${SCHEDULES}/${id}/end`);
  expect((await verifyLedger(gateway.db)).filter((one) => one.broken > 0)).toEqual([]);
});

test('an operator reads the schedules of an account: rows, next run, state and last result', async () => {
  const id = await account.create({ reference: 'seen', ...DAILY });
  await quicken(id);
  const { batch_id: batchId } = await lastRun(id, 'created');
  await account.api.post(`/payout_schedules/${id}/pause`);
  const { accountId } = account;
  const user = await makeUser(gateway.db, 'operator', 'viewer');
  const operator = new PageClient(new URL(gateway.baseUrl).origin);
  await operator.signIn(user);
  const page = (account: string, mode: string) =>
    operator.read(`/console/accounts/${account}/schedules?mode=${mode}`);
  const shown = await page(accountId, 'test');
  for (const text of [id, 'seen', ADDRESS, 'Every 5 seconds', 'Paused', `batches/${batchId}`]) {
    expect(shown).toContain(text);
  }
  expect(await page(accountId, 'live')).toContain('No schedules');
  const other = await createMerchant(gateway.db, gateway.pepper);
  expect(await page(other.accountId, 'test')).toContain('No schedules');
  await account.api.post(`/payout_schedules/${id}/end`);
});

test('the runs of a person who may no longer pay fail with that reason', async () => {
  const id = await account.create({ reference: 'left', ...DAILY });
  await quicken(id);
  await lastRun(id, 'created');
  await gateway.db.query(`UPDATE memberships SET role = 'support' WHERE user_id = ?`, [
    account.makerUser.id,
  ]);
  const { failure } = await lastRun(id, 'failed');
  expect(failure).toMatchObject({
    code: 'insufficient_scope',
    message: expect.stringContaining('may no longer make payouts'),
  });
  await account.api.post(`/payout_schedules/${id}/end`);
});
