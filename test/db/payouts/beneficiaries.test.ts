/** Who receives the money of a payout (decisions/payouts#beneficiaries): who may name them, and who reads them again. */
import { createKey } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import { hiddenIn, makeUser, signedIn } from '../../support/merchant/page-client';
import { acceptedPayout, balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { findAnyOf } from '../../support/stored-text';
import { startDirectGateway } from '../direct-gateway';

const NAME = 'Zephyrine Quillfeather';
const INSTITUTION = 'Fernwick Exchange';
const BENEFICIARY = { name: NAME, kind: 'individual', institution: INSTITUTION };
const PLAIN = [NAME, INSTITUTION];

const gateway = started(startDirectGateway);

test('Exchange Pay is told too; the institution can be left out', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const beneficiary = { name: NAME, kind: 'business' };
  const id = await acceptedPayout(client, {
    ...{ provider: 'exchange_pay', destination: { type: 'exchange_id', value: '123456789' } },
    ...{ network: null, beneficiary },
  });
  await gateway.drive(id);
  const told = { ...beneficiary, institution: null };
  expect(await readBookEntry(gateway.sandbox.url, id)).toMatchObject({ beneficiary: told });
});

test('who may make payouts reads it again: no other key, no list, no other mode and no other account', async () => {
  const { accountId, client, otherMode } = await openMerchant(gateway, { mode: 'test' });
  const id = await acceptedPayout(client, { beneficiary: BENEFICIARY });
  const path = `/payouts/${id}`;
  expect((await client.get(path)).json.data.beneficiary).toEqual(BENEFICIARY);

  const secret = await createKey(gateway.db, gateway.pepper, {
    ...{ accountId, mode: 'test', scopes: ['payouts:read', 'events:read'] },
  });
  const reader = new MerchantClient(gateway.baseUrl, secret);
  expect((await reader.get(path)).json.data).not.toHaveProperty('beneficiary');
  const stranger = (await openMerchant(gateway, { mode: 'test' })).client;
  for (const other of [otherMode, stranger]) expect((await other.get(path)).status).toBe(404);
  for (const answer of [
    await client.get('/payouts'),
    await client.get(`/events?object_id=${id}`),
    await client.get(`${path}/dossier`),
    await client.post(`${path}/cancel`),
  ]) {
    expect(findAnyOf(PLAIN, answer.text)).toEqual([]);
  }
  const plain = await acceptedPayout(client);
  expect((await client.get(`/payouts/${plain}`)).json.data).not.toHaveProperty('beneficiary');
});

test('a retry gets the first answer; another beneficiary with the same key does not', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const body = buildPayout({ beneficiary: BENEFICIARY });
  const key = randomKey();
  const first = await client.createPayout(body, key);
  const again = await client.createPayout({ ...body, beneficiary: { ...BENEFICIARY } }, key);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(first.text);
  for (const other of [{ ...BENEFICIARY, name: 'Someone Else' }, undefined]) {
    const reused = await client.createPayout({ ...body, beneficiary: other }, key);
    expect([reused.status, reused.json.error.code]).toEqual([422, 'idempotency_key_reused']);
  }
});

test('a person enters it on the dashboard, reviews it in live mode, and reads it again if they may pay', async () => {
  const { client: api, accountId } = await openMerchant(gateway, { reviewAll: false });
  const url = new URL(gateway.baseUrl).origin;
  const page = await signedIn(url, await makeUser(gateway.db, 'merchant', 'finance', accountId));
  const path = '/dashboard/live/payouts/new';
  const form = {
    ...hiddenIn(await page.read(path)),
    ...{ amount: '10', currency: 'USDT', type: 'crypto_address', network: 'tron' },
    ...{ value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', reference: 'form-beneficiary' },
    ...{ name: NAME, kind: '', institution: INSTITUTION },
  };
  const faulty = await page.post(path, form);
  expect(faulty.status).toBe(422);
  expect(await faulty.text()).toContain('Choose one');
  // The fees are shown without creating anything, and the form keeps what was entered.
  const review = await (await page.post(path, { ...form, kind: 'individual' })).text();
  expect(review).toContain(`${NAME} · Individual · ${INSTITUTION}`);
  const again = await (await page.post(path, { ...hiddenIn(review), edit: 'yes' })).text();
  expect(again).toContain(`value="${NAME}"`);
  expect(again).toContain('Total debit');
  expect((await api.get('/payouts?reference=form-beneficiary')).json.data).toEqual([]);
  // Changed after the review: it is reviewed again.
  const other = { ...hiddenIn(review), name: 'Somebody Else' };
  expect((await page.post(path, other)).status).toBe(409);

  const sent = await page.post(path, hiddenIn(review));
  const payoutPage = sent.headers.get('location')!;
  const id = payoutPage.split('/').at(-1)!;
  expect((await api.get(`/payouts/${id}`)).json.data.beneficiary).toEqual(BENEFICIARY);
  expect(await page.read(payoutPage)).toContain(NAME);
  const viewer = await signedIn(url, await makeUser(gateway.db, 'merchant', 'viewer', accountId));
  expect(findAnyOf(PLAIN, await viewer.read(payoutPage))).toEqual([]);
});

const name = (value: unknown) => ({ ...BENEFICIARY, name: value });

test.each([
  ['no name', { kind: 'business' }, 'beneficiary.name', 'required'],
  ['an empty name', name(''), 'beneficiary.name', 'too_short'],
  ['a long name', name('x'.repeat(101)), 'beneficiary.name', 'too_long'],
  ['a name of two lines', name('Ada\nLovelace'), 'beneficiary.name', 'format'],
  ['a name that is no text', name(7), 'beneficiary.name', 'type'],
  ['an unknown kind', { ...BENEFICIARY, kind: 'natural' }, 'beneficiary.kind', 'unsupported'],
  ['no object', NAME, 'beneficiary', 'type'],
  ['an unknown member', { ...BENEFICIARY, country: 'DE' }, 'beneficiary.country', 'unsupported'],
  [
    'a long institution',
    { ...BENEFICIARY, institution: 'x'.repeat(101) },
    'beneficiary.institution',
    'too_long',
  ],
])('%s is refused with its field and reserves nothing', async (_what, beneficiary, field, rule) => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const { status, json, text } = await client.createPayout(buildPayout({ beneficiary }));
  expect(status).toBe(422);
  expect(json.error.details.fields).toEqual([expect.objectContaining({ field, rule })]);
  expect(findAnyOf(PLAIN, text)).toEqual([]);
  expect(await balanceOf(client)).toMatchObject({ reserved: '0.00000000' });
});
