/**
 * The providers' statements are read and compared with ours: agreement opens no case, each kind of
 * difference makes one, and what a lost callback would have reported makes none. Every rule of the
 * comparison is in test/db/books/reconciliation-differences.test.ts.
 */
import { verifyStatements } from '../../src/db/ledger/ledger-verify';
import { brokenInvariants } from '../support/servers/gateway';
import {
  buildPayoutMoney,
  creditPayment,
  insertPayment,
  insertPayout,
} from '../support/merchant/ledger';
import {
  atProvider,
  openedPayment,
  readPayment,
  whenPayment,
} from '../support/payment/payment-steps';
import {
  age,
  BY_EXCHANGE,
  casesOf,
  compare,
  payUnasked,
  scenarioPayout,
  sendAtProvider,
  silenceCallbacks,
  startReconciledGateway,
  whenSent,
} from './reconciled-gateway';
import { whenPayout } from '../support/payout/payout-steps';
import { control, setOutage } from '../support/servers/sandbox';
import { started } from '../support/started';

const ONCHAIN = { provider: 'onchain_provider', mode: 'test' } as const;
const EXCHANGE = { provider: 'exchange_pay', mode: 'test' } as const;

const gateway = started(startReconciledGateway);

test('statements that agree open no case, and the copy has all of them', async () => {
  const payouts = await Promise.all([
    scenarioPayout(gateway.client, 'sends'),
    scenarioPayout(gateway.client, 'fails_later'),
    scenarioPayout(gateway.client, 'refuses'),
    scenarioPayout(gateway.client, 'never_settles'),
    scenarioPayout(gateway.client, 'sends', BY_EXCHANGE),
    scenarioPayout(gateway.client, 'fails_later', BY_EXCHANGE),
  ]);
  await Promise.all(
    payouts.map((id) => whenPayout(gateway.client, id, 'completed', 'failed', 'processing')),
  );
  const [paid, twice, open, other] = await Promise.all([
    openedPayment(gateway.client),
    openedPayment(gateway.client),
    openedPayment(gateway.client),
    openedPayment(gateway.client, { provider: 'exchange_pay' }),
  ]);
  await atProvider(gateway, paid, 'pay');
  await atProvider(gateway, other, 'pay');
  await atProvider(gateway, twice, 'pay', { amount: '60' });
  await atProvider(gateway, twice, 'pay', { amount: '50' });
  await atProvider(gateway, open, 'pay', { amount: '10', then: 'drop' });
  for (const id of [paid, other, twice]) await whenPayment(gateway.client, id, 'completed');

  expect(await compare(gateway)).toEqual({ troubles: [], asked: 0, told: 0, noted: 0 });
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

const balance = () => ({ accountId: gateway.accountId, mode: 'test', currency: 'USDT' }) as const;

const DIFFERENCES: Difference[] = [
  {
    what: 'a transfer that we never ordered',
    kind: 'unknown_transfer',
    make: async () => {
      await sendAtProvider(gateway, 'po_nobody');
      return 'po_nobody';
    },
    isAboutEntry: true,
  },
  {
    what: 'a payout that was sent, and then not',
    kind: 'completed_but_not_sent',
    make: async () => {
      const id = await scenarioPayout(gateway.client, 'sends');
      await whenPayout(gateway.client, id, 'completed');
      await control(gateway.sandbox.url, 'transfers/reorg', { ...ONCHAIN, client_reference: id });
      return id;
    },
  },
  {
    what: 'the same at the other provider',
    kind: 'completed_but_not_sent',
    make: async () => {
      const id = await scenarioPayout(gateway.client, 'sends', BY_EXCHANGE);
      await whenPayout(gateway.client, id, 'completed');
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
      await sendAtProvider(gateway, money.id, '11');
      return money.id;
    },
  },
  {
    what: 'a payout that failed and was sent after that',
    kind: 'sent_after_return_of_funds',
    make: async () => {
      const id = await scenarioPayout(gateway.client, 'success_after_failure');
      await whenPayout(gateway.client, id, 'failed');
      await whenSent(gateway, id);
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
      await sendAtProvider(gateway, money.id);
      return money.id;
    },
  },
  {
    what: 'a credited transfer that vanished',
    kind: 'credited_but_not_received',
    make: async () => {
      const id = await openedPayment(gateway.client);
      await atProvider(gateway, id, 'pay');
      await whenPayment(gateway.client, id, 'completed');
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
      await payUnasked(gateway, id);
      return id;
    },
  },
  {
    what: 'money that came for no payment',
    kind: 'money_without_payment',
    isOld: true,
    make: async () => {
      await payUnasked(gateway, 'pay_nobody');
      return 'pay_nobody';
    },
  },
];

describe('each kind of difference', () => {
  const objects = new Map<Difference, string>();
  const kindsOf = (one: Difference) => casesOf(gateway, objects.get(one) ?? '');
  const young = new Map<Difference, string[]>();
  const found = new Map<Difference, string[]>();
  let again: Awaited<ReturnType<typeof compare>>;

  // Together: a comparison reads everything, however many differences there are.
  beforeAll(async () => {
    await silenceCallbacks(gateway);
    const make = async (one: Difference) => objects.set(one, await one.make());
    await Promise.all(DIFFERENCES.map(make));
    const references = new Map(objects);
    await compare(gateway);
    for (const one of DIFFERENCES.filter(({ isAboutEntry }) => isAboutEntry)) {
      objects.set(one, await entryOf(references.get(one) ?? ''));
    }
    for (const one of DIFFERENCES) young.set(one, await kindsOf(one));
    for (const one of DIFFERENCES.filter(({ isOld }) => isOld)) {
      await age(gateway, objects.get(one) ?? '');
    }
    // The next reading would make them young again.
    await setOutage(gateway, 'onchain_provider', 'test', 'answer_503');
    await compare(gateway);
    await setOutage(gateway, 'onchain_provider', 'test', null);
    for (const one of DIFFERENCES) found.set(one, await kindsOf(one));
    again = await compare(gateway);
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

test('a comparison moves no money, changes no status and pauses no payouts', async () => {
  const state = async () =>
    gateway.db.query(
      `SELECT id, status, sequence, updated_at FROM payouts UNION ALL
       SELECT id, status, sequence, updated_at FROM payments ORDER BY id`,
    );
  const counts = async () =>
    gateway.db.query('SELECT count(*)::int AS n, max(id) FROM ledger_transactions');
  const before = [await state(), await counts()];
  await compare(gateway);
  expect([await state(), await counts()]).toEqual(before);
  // Whatever the tests above made it find.
  const [cases] = await gateway.db.query<{ n: number }>('SELECT count(*)::int AS n FROM cases');
  expect(cases!.n).toBeGreaterThan(3);
  expect(await gateway.db.query('SELECT * FROM payout_pauses')).toEqual([]);
});

/** Moves the times: everything until now was read long ago. */
async function readNothingAgain(): Promise<void> {
  await gateway.db.query(
    "UPDATE provider_statements SET changed_until = now() + interval '1 hour'",
  );
}

test('what a lost callback would have reported is booked by another check, and opens no case', async () => {
  await silenceCallbacks(gateway);
  const [refunded, paidMore] = [
    await openedPayment(gateway.client),
    await openedPayment(gateway.client),
  ];
  for (const id of [refunded, paidMore]) {
    await atProvider(gateway, id, 'pay');
    await whenPayment(gateway.client, id, 'completed');
  }
  await atProvider(gateway, refunded, 'refund', { amount: '40' });
  await atProvider(gateway, paidMore, 'pay', { amount: '5', at: new Date().toISOString() });
  await compare(gateway);
  await readNothingAgain();
  for (const id of [refunded, paidMore]) await age(gateway, id);
  expect(await compare(gateway, 20_000)).toMatchObject({ told: 2, noted: 0 });
  expect(await casesOf(gateway, refunded)).toEqual([]);
  expect(await casesOf(gateway, paidMore)).toEqual([]);
  expect(await readPayment(gateway.client, refunded)).toMatchObject({
    refunded_amount: '40.00000000',
  });
  expect(await readPayment(gateway.client, paidMore)).toMatchObject({
    received_amount: '105.00000000',
  });
});
