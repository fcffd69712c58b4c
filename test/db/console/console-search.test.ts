/** One search on every page of the console: what it finds, and where it leads. */
import { openCase } from '../../../src/db/cases/cases';
import { type IdKind, ID_PREFIXES } from '../../../src/domain/ids';
import { newId } from '../../../src/platform/lib/new-id';
import { reservePosting } from '../../../src/domain/ledger';
import { buildPayoutMoney, postAlone } from '../../support/merchant/ledger';
import type { PageClient } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { PROBE, read, startConsoleWorld } from '../console-world';
import { insertRow, makeOneOfEach } from '../one-of-each';

type Ids = Record<IdKind, string>;

const world = started(startConsoleWorld);
let viewer: PageClient;
let accountId: string;

beforeAll(async () => {
  viewer = await world.signedIn(world.reviewer);
  accountId = await world.harness.createAccount();
});

async function makePayout(fields: Record<string, unknown> = {}): Promise<string> {
  const id = newId('payout');
  await insertRow(world.harness.owner, 'payouts', {
    id,
    account_id: accountId,
    mode: 'live',
    reference: `ref-${id}`,
    status: 'completed',
    provider: 'onchain_provider',
    amount: '12.5',
    currency: 'USDT',
    network: 'ethereum',
    destination_type: 'crypto_address',
    destination_value: `T${id}`,
    service_fee: '0',
    network_fee: '0',
    total_debit: '12.5',
    fee_terms: '{}',
    api_key_id: 'key_none',
    review_reasons: '{}',
    ...fields,
  });
  return id;
}

/** Where a search leads; null: it shows what it found. */
async function leadsTo(text: string): Promise<string | null> {
  const response = await viewer.get(`/console/search?q=${encodeURIComponent(text)}`);
  expect([200, 303]).toContain(response.status);
  return response.headers.get('location');
}

const results = (text: string) => read(viewer, `/search?q=${encodeURIComponent(text)}`);

/** Objects that no account owns, and what is decided about one. */
async function makeOthers(payoutId: string, account: string): Promise<Partial<Ids>> {
  const { owner } = world.harness;
  const user_id = world.reviewer.id;
  const ids = {
    ...{ decision: newId('decision'), passkey: newId('passkey') },
    ...{ invitation: newId('invitation'), proposal: newId('proposal'), user: user_id },
  };
  await insertRow(owner, 'payout_decisions', {
    ...{ id: ids.decision, payout_id: payoutId, kind: 'reject', user_id, email: 'x' },
  });
  await insertRow(owner, 'passkeys', {
    ...{ id: ids.passkey, user_id, credential_id: ids.passkey, public_key: Buffer.from('x') },
    ...{ counter: 0, transports: '{}', name: 'Key' },
  });
  await insertRow(owner, 'invitations', {
    ...{ id: ids.invitation, token_hash: Buffer.from(ids.invitation), kind: 'merchant' },
    ...{ account_id: account, email: 'a@example.com', role: 'viewer', invited_by: 'x' },
    expires_at: new Date(),
  });
  await insertRow(owner, 'policy_proposals', {
    ...{ id: ids.proposal, account_id: account, topic: 'review', wish: '{}', after: '{}' },
    ...{ reason: 'x', proposed_by: 'x' },
  });
  await openCase(owner, 'sent_twice', payoutId, {});
  const [found] = await owner.query<{ case: string; session: string }>(
    `SELECT (SELECT id FROM cases WHERE object_id = ?) AS case,
            (SELECT id FROM sessions WHERE user_id = ? LIMIT 1) AS session`,
    [payoutId, user_id],
  );
  return { ...ids, ...found! };
}

/** Where each kind leads; null: nowhere. */
function pagesOf(ids: Ids): Record<IdKind, string | null> {
  const account = `/console/accounts/${ids.account}`;
  const [payout, payment] = [`/console/payouts/${ids.payout}`, `/console/payments/${ids.payment}`];
  const batch = `/console/batches/${ids.payoutBatch}`;
  return {
    ...{ payment, payout, refund: payment, event: payout, webhookDelivery: payout },
    ...{ decision: payout, account, adjustment: account, transaction: account, apiKey: account },
    ...{ webhookEndpoint: account, request: account, payoutSchedule: account },
    ...{ invitation: account, proposal: account, case: `/console/cases/${ids.case}` },
    ...{ payoutBatch: batch, payoutScheduleRun: batch, paymentLink: account },
    recipient: `${account}/recipients?mode=live`,
    ...{ user: '/console/people', session: '/console/people', passkey: '/console/people' },
    // A notification belongs to the worker, and the pages do not read it.
    ...{ notification: null, linkMail: null, chatWebhook: null, chatMessage: null },
  };
}

test('the id of an object of every kind leads to its page, or to the page that shows it', async () => {
  const account = await world.harness.createAccount();
  const none = Object.fromEntries(
    (Object.keys(ID_PREFIXES) as IdKind[]).map((kind) => [kind, newId(kind)]),
  ) as Ids;
  const own = await makeOneOfEach(world.harness.owner, account, 'live');
  const ids: Ids = { ...none, ...own, ...(await makeOthers(own.payout, account)) };
  const found = await Promise.all(
    Object.entries(ids).map(async ([kind, id]) => [kind, await leadsTo(id)] as const),
  );
  expect(Object.fromEntries(found)).toEqual(pagesOf(ids));
  expect(await leadsTo(newId('payout'))).toBeNull();
});

test('an event leads to the payment of its refund, and a posting to the payout that it is of', async () => {
  const { owner } = world.harness;
  const account = await world.harness.createAccount();
  const own = await makeOneOfEach(owner, account, 'live');
  const event = { id: newId('event'), account_id: account, mode: 'live', sequence: 1 };
  await insertRow(owner, 'events', { ...event, type: 'refund.completed', object_id: own.refund });
  expect(await leadsTo(event.id)).toBe(`/console/payments/${own.payment}`);
  const place = { accountId: account, mode: 'live', currency: 'USDT' } as const;
  await postAlone(owner, place, reservePosting({ ...buildPayoutMoney('4'), id: own.payout }));
  const [posted] = await owner.query<{ id: string }>(
    'SELECT id FROM ledger_transactions WHERE source_id = ?',
    [own.payout],
  );
  expect(await leadsTo(posted!.id)).toBe(`/console/payouts/${own.payout}`);
});

test('a whole reference, an address in each of its spellings, a hash, an email and a name lead to the one object', async () => {
  const checksummed = '0x52908400098527886E0F7030069857D2E4169EE7';
  const mixed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const hash = `0x${'a1'.repeat(32)}`;
  const first = await makePayout({
    reference: 'Order_77%',
    destination_value: mixed,
    tx_hash: hash,
  });
  const second = await makePayout({
    reference: 'order-78',
    destination_value: checksummed.toLowerCase(),
  });
  const page = (id: string) => `/console/payouts/${id}`;
  expect(await leadsTo('Order_77%')).toBe(page(first));
  expect(await leadsTo(' order-78 ')).toBe(page(second));
  expect(await leadsTo(mixed.toLowerCase())).toBe(page(first));
  expect(await leadsTo(checksummed)).toBe(page(second));
  expect(await leadsTo(hash.toUpperCase().replace('0X', '0x'))).toBe(page(first));
  expect(await leadsTo(world.reviewer.email.toUpperCase())).toBe('/console/people');
  const own = await world.harness.createAccount();
  await world.harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [
    'Zebra Books',
    own,
  ]);
  expect(await leadsTo('zebra books')).toBe(`/console/accounts/${own}`);
});

test('the start of a reference or a name shows what was found by kind, with status, amount, age and account', async () => {
  const own = await world.harness.createAccount();
  await world.harness.owner.query('UPDATE accounts SET name = ? WHERE id = ?', [PROBE, own]);
  for (let n = 0; n < 12; n += 1) {
    await makePayout({
      account_id: own,
      reference: `sale-${n} ${PROBE}`,
      amount: '3',
      total_debit: '3',
    });
  }
  await insertRow(world.harness.owner, 'recipients', {
    id: newId('recipient'),
    ...{ account_id: own, mode: 'test', name: 'SALE-Office', currency: 'BTC' },
    ...{ destination_type: 'exchange_id', destination_value: '9', created_by: 'k' },
  });
  const html = await results('sale-');
  expect(html.match(/<h2>[^<]+/g)).toEqual(['<h2>Payouts', '<h2>Recipients']);
  expect(html).toContain('The first 10. Type more of it to see others.');
  expect(html.match(/href="\/console\/payouts\/po_/g)).toHaveLength(10);
  expect(html).toContain(`/console/accounts/${own}/recipients?mode=test`);
  expect(html).toMatch(/Completed.*Live.*3\.00.*&quot;>&lt;script>/s);
  // What stands for any text in SQL stands for itself.
  for (const nothing of ['sale_', '%', 'SALE-1', 'sale-1%']) {
    expect(await results(`${nothing}x`)).toContain('Nothing was found');
  }
});

test('two objects with the same address are shown, and every page has the field', async () => {
  const address = `T${newId('payout')}`;
  await makePayout({ destination_value: address });
  await makePayout({ destination_value: address });
  expect(await leadsTo(address)).toBeNull();
  expect((await results(address)).match(/href="\/console\/payouts\/po_/g)).toHaveLength(2);
  expect(await results('x')).toContain('Enter at least 2 characters');
  expect(await read(viewer, '/home')).toContain('action="/console/search"');
});
