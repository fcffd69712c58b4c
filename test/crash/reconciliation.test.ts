/**
 * The providers' statements are read and compared with ours: agreement opens no case, each kind of
 * difference makes one, and a provider that is away is read the next time. Every rule of the
 * comparison is in test/db/reconciliation-differences.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { verifyStatements } from '../../src/db/ledger-verify';
import { SCENARIOS, type ScenarioName } from '../../src/sandbox/transfers/scenarios';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import {
  buildPayoutMoney,
  creditPayment,
  insertPayment,
  insertPayout,
} from '../support/merchant/ledger';
import type { MerchantClient } from '../support/merchant/merchant-client';
import {
  atProvider,
  openedPayment,
  readPayment,
  whenPayment,
} from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant, whenPayout } from '../support/payout/payout-steps';
import { control, readBookEntry } from '../support/servers/sandbox';
import { waitFor, waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const ONCHAIN = { provider: 'onchain_provider', mode: 'test' } as const;
const EXCHANGE = { provider: 'exchange_pay', mode: 'test' } as const;

const gateway = started(startGateway);
let client: MerchantClient;
let accountId: string;

beforeAll(async () => {
  // Some differences are rows without postings, which the check would call a broken ledger.
  await gateway.temporal.schedule.getHandle('ledger-check').pause();
  ({ client, accountId } = await openMerchant(gateway, { mode: 'test' }));
});

interface Compared {
  troubles: string[];
  asked: number;
  told: number;
  noted: number;
}

/** What the schedule does every hour. @param lookMs how long payments have for a look */
async function compare(lookMs = 1_000): Promise<Compared> {
  return gateway.temporal.workflow.execute(WORKFLOWS.reconciliation, {
    workflowId: `statements-${randomBytes(6).toString('hex')}`,
    taskQueue: TASK_QUEUES.payouts,
    args: [lookMs],
  });
}

async function exceptionsOf(objectId: string): Promise<{ kind: string; details: object }[]> {
  const sql = 'SELECT kind, details FROM cases WHERE object_id = ? ORDER BY created_at';
  return gateway.db.query(sql, [objectId]);
}

function payout(scenario: ScenarioName, overrides: Record<string, unknown> = {}): Promise<string> {
  return acceptedPayout(client, { amount: `10.0000${SCENARIOS[scenario].code}`, ...overrides });
}

const BY_EXCHANGE = { network: null, destination: { type: 'exchange_id', value: '123456789' } };

/** From here on nothing but the statements tells of what happens there. */
async function silenceCallbacks(): Promise<void> {
  await control(gateway.sandbox.url, 'settings', { callback_base_url: null });
}

/** An order of somebody who has our key, under a reference of their choice. */
async function orderAtProvider(path: string, members: Record<string, unknown>): Promise<void> {
  const response = await fetch(`${gateway.sandbox.onchainUrl}/v1/${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.env['ONCHAIN_TEST_API_KEY'] ?? ''}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ asset: 'USDT', network: 'tron', amount: '10', ...members }),
  });
  if (response.status !== 201) throw new Error(`${path}: ${response.status}`);
}

async function sendAtProvider(reference: string, amount = '10'): Promise<void> {
  const destination = { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', memo: null };
  await orderAtProvider('transfers', { client_reference: reference, amount, destination });
  await whenSent(reference);
}

async function whenSent(reference: string): Promise<void> {
  await waitThroughFaults(`${reference} to be sent`, async () => {
    const entry = await readBookEntry(gateway.sandbox.url, reference);
    return entry?.status === 'sent';
  });
}

/** Moves the times: the provider showed it two hours ago, and nothing since. */
async function age(reference: string): Promise<void> {
  await gateway.db.query(
    `UPDATE provider_entries SET changed_at = changed_at - interval '2 hours' WHERE reference = ?`,
    [reference],
  );
}

test('statements that agree open no case, and the copy has all of them', async () => {
  const payouts = await Promise.all([
    payout('sends'),
    payout('fails_later'),
    payout('refuses'),
    payout('never_settles'),
    payout('sends', BY_EXCHANGE),
    payout('fails_later', BY_EXCHANGE),
  ]);
  await Promise.all(
    payouts.map((id) => whenPayout(client, id, 'completed', 'failed', 'processing')),
  );
  const [paid, twice, open, other] = await Promise.all([
    openedPayment(client),
    openedPayment(client),
    openedPayment(client),
    openedPayment(client, { provider: 'exchange_pay' }),
  ]);
  await atProvider(gateway, paid, 'pay');
  await atProvider(gateway, other, 'pay');
  await atProvider(gateway, twice, 'pay', { amount: '60' });
  await atProvider(gateway, twice, 'pay', { amount: '50' });
  await atProvider(gateway, open, 'pay', { amount: '10', then: 'drop' });
  for (const id of [paid, other, twice]) await whenPayment(client, id, 'completed');

  expect(await compare()).toEqual({ troubles: [], asked: 0, told: 0, noted: 0 });
  const entries = await gateway.db.query(
    `SELECT provider, kind, state, count(*)::int AS n FROM provider_entries
      WHERE mode = 'test' AND reference = ANY (?) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    [[...payouts, paid, other, twice]],
  );
  expect(entries).toEqual([
    { provider: 'exchange_pay', kind: 'payin', state: 'done', n: 1 },
    { provider: 'exchange_pay', kind: 'payout', state: 'done', n: 1 },
    { provider: 'exchange_pay', kind: 'payout', state: 'void', n: 1 },
    { provider: 'onchain_provider', kind: 'payin', state: 'done', n: 3 },
    { provider: 'onchain_provider', kind: 'payout', state: 'done', n: 1 },
    { provider: 'onchain_provider', kind: 'payout', state: 'pending', n: 1 },
    { provider: 'onchain_provider', kind: 'payout', state: 'void', n: 1 },
  ]);
  const { broken, readAt } = await verifyStatements(gateway.db);
  expect([broken, readAt]).toEqual([0, expect.any(Date)]);
  expect(await gateway.db.query('SELECT kind FROM cases')).toEqual([]);
  expect(await brokenInvariants(gateway)).toEqual([]);
});

interface Difference {
  what: string;
  kind: string;
  /** @returns what the case is about */
  make: () => Promise<string>;
  /** It counts only when nothing has changed for an hour. */
  isOld?: boolean;
  /** The case is about our copy of the provider's entry, and `make` returns its reference. */
  isAboutEntry?: boolean;
}

const balance = () => ({ accountId, mode: 'test', currency: 'USDT' }) as const;

const DIFFERENCES: Difference[] = [
  {
    what: 'a transfer that we never ordered',
    kind: 'unknown_transfer',
    make: async () => {
      await sendAtProvider('po_nobody');
      return 'po_nobody';
    },
    isAboutEntry: true,
  },
  {
    what: 'a payout that was sent, and then not',
    kind: 'completed_but_not_sent',
    make: async () => {
      const id = await payout('sends');
      await whenPayout(client, id, 'completed');
      await control(gateway.sandbox.url, 'transfers/reorg', { ...ONCHAIN, client_reference: id });
      return id;
    },
  },
  {
    what: 'the same at the other provider',
    kind: 'completed_but_not_sent',
    make: async () => {
      const id = await payout('sends', BY_EXCHANGE);
      await whenPayout(client, id, 'completed');
      await control(gateway.sandbox.url, 'transfers/reorg', { ...EXCHANGE, client_reference: id });
      return id;
    },
  },
  {
    what: 'a completed payout that they never heard of',
    kind: 'completed_but_not_sent',
    make: async () => {
      const money = buildPayoutMoney('10');
      await insertPayout(gateway.db, balance(), money, 'completed');
      return money.id;
    },
  },
  {
    what: 'a payout of another amount',
    kind: 'transfer_mismatch',
    make: async () => {
      const money = buildPayoutMoney('10');
      await insertPayout(gateway.db, balance(), money, 'completed');
      await sendAtProvider(money.id, '11');
      return money.id;
    },
  },
  {
    what: 'a payout that failed and was sent after that',
    kind: 'sent_after_return_of_funds',
    make: async () => {
      const id = await payout('success_after_failure');
      await whenPayout(client, id, 'failed');
      await whenSent(id);
      return id;
    },
  },
  {
    what: 'a payout that was sent long ago and is under way here',
    kind: 'sent_but_not_completed',
    isOld: true,
    make: async () => {
      const money = buildPayoutMoney('10');
      await insertPayout(gateway.db, balance(), money, 'processing');
      await sendAtProvider(money.id);
      return money.id;
    },
  },
  {
    what: 'a credited transfer that vanished',
    kind: 'credited_but_not_received',
    make: async () => {
      const id = await openedPayment(client);
      await atProvider(gateway, id, 'pay');
      await whenPayment(client, id, 'completed');
      await atProvider(gateway, id, 'reorg');
      return id;
    },
  },
  {
    what: 'a credited payment that they never heard of',
    kind: 'credited_but_not_received',
    make: () => creditPayment(gateway.db, balance(), '5', '0.05'),
  },
  {
    what: 'money that came for a payment that has failed',
    kind: 'money_not_credited',
    isOld: true,
    make: async () => {
      const id = await insertPayment(gateway.db, balance(), 'failed');
      await payAtProvider(id);
      return id;
    },
  },
  {
    what: 'money that came for no payment',
    kind: 'money_without_payment',
    isOld: true,
    make: async () => {
      await payAtProvider('pay_nobody');
      return 'pay_nobody';
    },
  },
];

/** A checkout that no workflow of ours looks at. */
async function payAtProvider(reference: string): Promise<void> {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  await orderAtProvider('checkouts', { client_reference: reference, expires_at, amount: '5' });
  await atProvider(gateway, reference, 'pay', { at: new Date().toISOString() });
}

describe('each kind of difference', () => {
  const objects = new Map<Difference, string>();
  const kindsOf = async (one: Difference) =>
    (await exceptionsOf(objects.get(one) ?? '')).map(({ kind }) => kind);
  const young = new Map<Difference, string[]>();
  const found = new Map<Difference, string[]>();
  let again: Compared;

  // Together: a comparison reads everything, however many differences there are.
  beforeAll(async () => {
    await silenceCallbacks();
    const make = async (one: Difference) => objects.set(one, await one.make());
    await Promise.all(DIFFERENCES.map(make));
    const references = new Map(objects);
    await compare();
    for (const one of DIFFERENCES.filter(({ isAboutEntry }) => isAboutEntry)) {
      objects.set(one, await entryOf(references.get(one) ?? ''));
    }
    for (const one of DIFFERENCES) young.set(one, await kindsOf(one));
    for (const one of DIFFERENCES.filter(({ isOld }) => isOld)) await age(objects.get(one) ?? '');
    // The next reading would make them young again.
    await withoutProvider(compare);
    for (const one of DIFFERENCES) found.set(one, await kindsOf(one));
    again = await compare();
  });

  test.each(DIFFERENCES)('$what: one case, $kind', async (one) => {
    // What is young is no difference yet.
    if (one.isOld) expect(young.get(one)).toEqual([]);
    expect(found.get(one)).toEqual([one.kind]);
    expect(await kindsOf(one)).toEqual([one.kind]);
  });

  test('another comparison adds none', () => {
    expect(again).toMatchObject({ troubles: [], noted: 0 });
  });
});

async function entryOf(reference: string): Promise<string> {
  const sql = 'SELECT id FROM provider_entries WHERE reference = ?';
  return (await gateway.db.query<{ id: string }>(sql, [reference]))[0]?.id ?? '';
}

async function withoutProvider<T>(work: () => Promise<T>): Promise<T> {
  await control(gateway.sandbox.url, 'outage', { ...ONCHAIN, kind: 'answer_503' });
  try {
    return await work();
  } finally {
    await control(gateway.sandbox.url, 'outage', { ...ONCHAIN, kind: null });
  }
}

test('a provider that is away is noted and skipped, and read when it is back', async () => {
  await silenceCallbacks();
  const id = await openedPayment(client, { provider: 'exchange_pay' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  const outage = { ...EXCHANGE, kind: 'answer_503' };
  await control(gateway.sandbox.url, 'outage', outage);
  await atProvider(gateway, id, 'reorg');
  expect((await compare()).troubles).toEqual([
    expect.stringMatching(/^exchange_pay test payouts: The provider answered with status 503\./),
    expect.stringMatching(/^exchange_pay test payments: The provider answered with status 503\./),
  ]);
  expect(await troubles()).toEqual(['exchange_pay', 'exchange_pay']);
  expect(await exceptionsOf(id)).toEqual([]);

  await control(gateway.sandbox.url, 'outage', { ...EXCHANGE, kind: null });
  expect((await compare()).troubles).toEqual([]);
  expect(await troubles()).toEqual([]);
  expect((await exceptionsOf(id)).map(({ kind }) => kind)).toEqual(['credited_but_not_received']);
});

test('a provider that limits the rate of requests is read as soon as it allows it', async () => {
  await control(gateway.sandbox.url, 'outage', { ...EXCHANGE, kind: 'answer_429' });
  const compared = compare();
  await waitFor('the limit', async () => (await troubles()).length > 0);
  await control(gateway.sandbox.url, 'outage', { ...EXCHANGE, kind: null });
  expect((await compared).troubles).toEqual([]);
  expect(await troubles()).toEqual([]);
});

async function troubles(): Promise<string[]> {
  const sql = 'SELECT provider FROM provider_statements WHERE trouble IS NOT NULL';
  return (await gateway.db.query<{ provider: string }>(sql)).map(({ provider }) => provider);
}

test('a comparison moves no money, changes no status and pauses no payouts', async () => {
  const state = async () =>
    gateway.db.query(
      `SELECT id, status, sequence, updated_at FROM payouts UNION ALL
       SELECT id, status, sequence, updated_at FROM payments ORDER BY id`,
    );
  const counts = async () =>
    gateway.db.query('SELECT count(*)::int AS n, max(id) FROM ledger_transactions');
  const before = [await state(), await counts()];
  await compare();
  expect([await state(), await counts()]).toEqual(before);
  // Whatever the tests above made it find.
  const [cases] = await gateway.db.query<{ n: number }>('SELECT count(*)::int AS n FROM cases');
  expect(cases!.n).toBeGreaterThan(3);
  expect(await gateway.db.query('SELECT * FROM payout_pauses')).toEqual([]);
});

test('a provider that hangs delays no payout of the other', async () => {
  await control(gateway.sandbox.url, 'outage', { ...EXCHANGE, kind: 'hang' });
  const hanging = await Promise.all(Array.from({ length: 12 }, () => payout('sends', BY_EXCHANGE)));
  const others = await Promise.all(Array.from({ length: 3 }, () => payout('sends')));
  for (const id of others) await whenPayout(client, id, 'completed');
  const sql = "SELECT id FROM payouts WHERE status = 'completed' AND id = ANY (?)";
  expect(await gateway.db.query(sql, [hanging])).toEqual([]);
  await control(gateway.sandbox.url, 'outage', { ...EXCHANGE, kind: null });
  for (const id of hanging) await whenPayout(client, id, 'completed');
});

/** Moves the times: everything until now was read long ago. */
async function readNothingAgain(): Promise<void> {
  await gateway.db.query(
    "UPDATE provider_statements SET changed_until = now() + interval '1 hour'",
  );
}

test('what a lost callback would have reported is booked by another check, and opens no case', async () => {
  await silenceCallbacks();
  const [refunded, paidMore] = [await openedPayment(client), await openedPayment(client)];
  for (const id of [refunded, paidMore]) {
    await atProvider(gateway, id, 'pay');
    await whenPayment(client, id, 'completed');
  }
  await atProvider(gateway, refunded, 'refund', { amount: '40' });
  await atProvider(gateway, paidMore, 'pay', { amount: '5', at: new Date().toISOString() });
  await compare();
  await readNothingAgain();
  for (const id of [refunded, paidMore]) await age(id);
  expect(await compare(20_000)).toMatchObject({ told: 2, noted: 0 });
  expect(await exceptionsOf(refunded)).toEqual([]);
  expect(await exceptionsOf(paidMore)).toEqual([]);
  expect(await readPayment(client, refunded)).toMatchObject({ refunded_amount: '40.00000000' });
  expect(await readPayment(client, paidMore)).toMatchObject({ received_amount: '105.00000000' });
});
