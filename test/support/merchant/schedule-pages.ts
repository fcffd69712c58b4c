/** Schedules of an account as its people make and change them on the dashboard in test mode. */
import { createMerchant, fund } from './merchant';
import { MerchantClient } from './merchant-client';
import { makeUser, type PageClient, signedIn, type TestUser } from './page-client';
import type { Opened } from '../payout/payout-steps';

export const SCHEDULES = '/dashboard/test/schedules';
export const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
export const DAILY = { interval: '24', unit: 'hours' };

export const tableOf = (...amounts: string[]) =>
  [
    'reference;amount;currency;destination;network',
    ...amounts.map((amount, index) => `row-${index + 1};${amount};USDT;${ADDRESS};tron`),
  ].join('\r\n');

/** An account in Berlin that asks for a second person above 100 USDT: `maker` has the role finance. */
export async function openSchedules(gateway: Opened) {
  const { db } = gateway;
  const merchant = await createMerchant(db, gateway.pepper);
  const { accountId } = merchant;
  await fund(db, accountId, 'test', 'USDT', '10000');
  const rule = JSON.stringify({ USDT: '100.00000000' });
  await db.query(
    `UPDATE accounts SET second_person_above = ?::jsonb, time_zone = 'Europe/Berlin' WHERE id = ?`,
    [rule, accountId],
  );
  const api = new MerchantClient(gateway.baseUrl, merchant.testKey);
  const enter = async (role: string, account = accountId): Promise<[PageClient, TestUser]> => {
    const user = await makeUser(db, 'merchant', role, account);
    return [await signedIn(gateway.baseUrl, user), user];
  };
  const [maker, makerUser] = await enter('finance');
  const send = async (path: string, form: Record<string, string>, by = maker) => {
    const response = await by.post(`${SCHEDULES}/${path}`, { table: tableOf('10,5'), ...form });
    return { status: response.status, text: await response.text(), response };
  };
  return {
    ...{ accountId, api, enter, maker, makerUser, viewer: (await enter('viewer'))[0] },
    /** Sends a form with a table of one payout, unless it has another one. */
    send,
    /** @returns the id of the schedule */
    create: async (form: Record<string, string>): Promise<string> => {
      const { response } = await send('create', form);
      return response.headers.get('location')?.split('/').at(-1) ?? '';
    },
    show: async (id: string, by = maker) => (await by.get(`${SCHEDULES}/${id}`)).text(),
    read: async (id: string) => (await api.get(`/payout_schedules/${id}`)).json.data,
  };
}
