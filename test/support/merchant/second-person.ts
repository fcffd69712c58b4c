/** What people make on the dashboard in test mode, each for as much as the test needs. */
import type { SecondPersonKind } from '../../../src/domain/second-person';
import { atProvider, openedPayment, whenPayment } from '../payment/payment-steps';
import type { TestGateway } from '../servers/gateway';
import type { MerchantClient } from './merchant-client';
import type { PageClient } from './page-client';

const BASE = '/dashboard/test';

export const DESTINATION = {
  currency: 'USDT',
  type: 'crypto_address',
  value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  network: 'tron',
};

/** Where the API and the dashboard have the objects of each kind. */
export const LISTS: Record<SecondPersonKind, { api: string; pages: string }> = {
  payout: { api: 'payouts', pages: 'payouts' },
  payoutBatch: { api: 'payout_batches', pages: 'batches' },
  refund: { api: 'refunds', pages: 'refunds' },
  recipient: { api: 'recipients', pages: 'recipients' },
  payoutSchedule: { api: 'payout_schedules', pages: 'schedules' },
};

let count = 0;
const newReference = () => `person-${(count += 1)}`;

const tableOf = (amounts: readonly string[]) =>
  [
    'reference;amount;currency;destination;network',
    ...amounts.map((amount) => `${newReference()};${amount};USDT;${DESTINATION.value};tron`),
  ].join('\n');

/** Sends a form that makes an object. @returns its id */
async function make(by: PageClient, path: string, form: Record<string, string>): Promise<string> {
  const sent = await by.post(`${BASE}/${path}`, form);
  if (sent.status !== 303) throw new Error(`${path} was answered with ${sent.status}`);
  return sent.headers.get('location')?.split('/').at(-1) ?? '';
}

export function makePayout(by: PageClient, amount: string): Promise<string> {
  return make(by, 'payouts/new', { ...DESTINATION, amount, reference: newReference() });
}

/** @param amounts one for each row */
export function makeBatch(by: PageClient, ...amounts: string[]): Promise<string> {
  const form = { reference: newReference(), table: tableOf(amounts) };
  return make(by, 'batches/create', form);
}

/** Its next run is in a year at most. */
export function makeSchedule(by: PageClient, ...amounts: string[]): Promise<string> {
  const times = { cron: '0 9 1 1 *', time_zone: 'UTC' };
  return make(by, 'schedules/create', {
    ...times,
    reference: newReference(),
    table: tableOf(amounts),
  });
}

export function makeRecipient(by: PageClient, changes: Record<string, string> = {}) {
  return make(by, 'recipients/new', { ...DESTINATION, name: newReference(), ...changes });
}

export function makeRefund(by: PageClient, payment: string, amount: string): Promise<string> {
  const form = { amount, reference: newReference(), step: 'send' };
  return make(by, `payments/${payment}/refund`, form);
}

/** A payment of 300 USDT that was paid and credited. */
export async function paidFor(gateway: TestGateway, api: MerchantClient): Promise<string> {
  const id = await openedPayment(api, { amount: '300', provider: 'exchange_pay' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(api, id, 'completed');
  return id;
}

/** @param version that the page of the person shows, where the object can change */
export function approveAs(by: PageClient, id: string, version = ''): Promise<Response> {
  return by.post(`${BASE}/second-person/${id}/approve`, { version });
}

/** What the page of an object sends with an approval. @param by somebody who may approve it */
export async function versionOn(by: PageClient, kind: SecondPersonKind, id: string) {
  const html = await by.read(`${BASE}/${LISTS[kind].pages}/${id}`);
  return /name="version" value="([^"]*)"/.exec(html)?.[1] ?? '';
}
