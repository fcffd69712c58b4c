/** A person makes a schedule on the dashboard: what is checked, what is refused, and who may. */
import { createMerchant } from '../../support/merchant/merchant';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';
import {
  ADDRESS,
  DAILY,
  openSchedules,
  SCHEDULES,
  tableOf,
} from '../../support/merchant/schedule-pages';

const gateway = started(startDirectGateway, isSound);
const account = started(() => openSchedules(gateway));

test('a table is checked with its next runs in the time zone of the account, and made once by two clicks', async () => {
  const form = {
    reference: 'rent',
    cron: '0 9 1 * *',
    time_zone: 'Europe/Berlin',
    end: '2099-06-01T00:00',
  };
  const checked = await account.send('new', form);
  expect(checked.status).toBe(200);
  expect(checked.text).toContain('1 payout at each time');
  const times = checked.text.match(/\d{4}-\d\d-01 09:00:00 <span class="muted">UTC\+0[12]:00/g);
  expect(times).toHaveLength(5);
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked.text) ?? [];
  const clicks = await Promise.all([1, 2].map(() => account.send('create', { ...form, key })));
  const [location, again] = clicks.map(({ response }) => response.headers.get('location'));
  expect(location).toBe(again);
  const id = location?.split('/').at(-1) ?? '';
  expect(await account.read(id)).toMatchObject({
    reference: 'rent',
    cron: '0 9 1 * *',
    time_zone: 'Europe/Berlin',
    end_at: '2099-05-31T22:00:00.000Z',
    awaits_second_person: false,
  });
  expect(await account.show(id)).toContain(ADDRESS);
  expect(await (await account.maker.get(SCHEDULES)).text()).toContain('rent');
  await account.api.post(`/payout_schedules/${id}/end`);
});

test('faults are shown at their fields and rows, and nothing is lost', async () => {
  const faulty = await account.send('new', {
    reference: 'no good',
    cron: '0 9 1 * MON',
    interval: 'often',
    end: '2020-01-01T00:00',
  });
  expect(faulty.status).toBe(422);
  expect(faulty.text).toMatch(/value="often"[^]*field-interval-error/);
  expect(faulty.text).toContain('field-reference-error');
  expect(faulty.text).toContain('field-cron-error');
  expect(faulty.text).toContain('row-1;10,5;USDT');
  const past = await account.send('new', { reference: 'past', ...DAILY, end: '2020-01-01T00:00' });
  expect(past.text).toMatch(/field-end-error[^]*Send end_at after the first time/);
  const rows = await account.send('new', {
    reference: 'rows',
    ...DAILY,
    table: tableOf('10', '0'),
  });
  expect(rows.text).toContain('1 of 2 rows must be corrected.');
  expect(rows.text).not.toContain('Create the schedule</button>');
});

test('a viewer and a developer in live mode cannot make or change one, and another account sees none', async () => {
  const id = await account.create({ reference: 'roles', ...DAILY });
  expect(await account.show(id, account.viewer)).not.toContain(`${id}/pause`);
  expect((await account.viewer.post(`${SCHEDULES}/${id}/pause`)).status).toBe(403);
  expect(
    (await account.send('create', { reference: 'viewer', ...DAILY }, account.viewer)).status,
  ).toBe(403);
  const [developer] = await account.enter('developer');
  expect((await developer.post('/dashboard/live/schedules/create')).status).toBe(403);
  const other = await createMerchant(gateway.db, gateway.pepper);
  const [stranger] = await account.enter('owner', other.accountId);
  expect((await stranger.get(`${SCHEDULES}/${id}`)).status).toBe(404);
  expect((await stranger.post(`${SCHEDULES}/${id}/end`)).status).toBe(404);
  expect((await account.maker.get(`/dashboard/live/schedules/${id}`)).status).toBe(404);
  expect((await account.maker.post(`${SCHEDULES}/${id}/pause`)).status).toBe(303);
  expect((await account.read(id)).status).toBe('paused');
  expect(await account.show(id)).toContain('None while it is paused.');
  expect((await account.maker.post(`${SCHEDULES}/${id}/resume`)).status).toBe(303);
  expect((await account.maker.post(`${SCHEDULES}/${id}/end`)).status).toBe(303);
  expect((await account.read(id)).status).toBe('ended');
});
