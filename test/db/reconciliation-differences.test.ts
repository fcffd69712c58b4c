/**
 * In what a provider's statement may differ from ours, and what is no difference: rows of ours beside
 * the copy of theirs. test/e2e/statements.test.ts makes the copy from a provider.
 */
import type { Knex } from 'knex';
import { noteDifferences } from '../../activities/reconciliation/note-differences';
import { connect } from '../../src/db/connect';
import { verifyStatements } from '../../src/db/ledger-verify';
import { findCase, listCases } from '../../src/db/repositories/cases';
import { type BalanceKey } from '../../src/db/repositories/ledger';
import {
  noteReading,
  type ProviderEntry,
  storeEntries,
  voidVanished,
} from '../../src/db/repositories/provider-statements';
import { rows } from '../../src/db/transaction';
import { amount } from '../../src/domain/money';
import type { PaymentStatus } from '../../src/domain/payment';
import type { PayoutStatus } from '../../src/domain/payout';
import { newId } from '../../src/lib/new-id';
import { resolveCase } from '../../src/services/admin/cases';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';
import {
  buildPayoutMoney,
  creditPayment,
  insertPayment,
  insertPayout,
  makeAccount,
  refundPayment,
} from '../support/merchant/ledger';

const MINUTE_MS = 60_000;
const TWO_HOURS_MS = 120 * MINUTE_MS;
const ago = (ms: number) => new Date(Date.now() - ms);

let database: TestDatabase;
let app: Knex;
let key: BalanceKey;

beforeAll(async () => {
  database = await createTestDatabase();
  app = connect({
    url: database.appUrl,
    size: 4,
    applicationName: 'reconciliation-differences-test',
  });
  key = { accountId: await makeAccount(app), mode: 'test', currency: 'USDT' };
});

afterAll(async () => {
  await app.destroy();
  await database.drop();
});

type Entry = Partial<ProviderEntry> & Pick<ProviderEntry, 'reference'>;

/** Read a minute from now, after everything that this test writes, unless it says otherwise. */
async function theyShow(entry: Entry, readAt = ago(-MINUTE_MS), place: object = {}) {
  const full: ProviderEntry = {
    kind: 'payout',
    id: newId('request'),
    amount: amount('10'),
    currency: 'USDT',
    state: 'done',
    held: false,
    changedAt: ago(TWO_HOURS_MS),
    ...entry,
  };
  const statement = { provider: 'onchain_provider', mode: 'test', ...place } as const;
  await storeEntries(app, statement, readAt, [full]);
  return full;
}

async function payout(status: PayoutStatus): Promise<string> {
  const money = buildPayoutMoney('10');
  await insertPayout(app, key, money, status);
  return money.id;
}

const payment = (status: PaymentStatus, columns = {}) => insertPayment(app, key, status, columns);

/** The credit of 5 with a transfer of theirs. */
async function credited(entry: Partial<ProviderEntry> = {}, readAt?: Date): Promise<string> {
  const reference = await creditPayment(app, key, '5', '0.05');
  const id = `transfer-of-${reference}`;
  await theyShow({ kind: 'payin', reference, id, amount: amount('5'), ...entry }, readAt);
  return reference;
}

/** The kinds of the open cases about any of the objects. */
async function kindsOf(...objectIds: string[]): Promise<string[]> {
  const all = await listCases(app, false, 1_000);
  return all.filter(({ objectId }) => objectIds.includes(objectId)).map(({ kind }) => kind);
}

interface Case {
  what: string;
  /** Null: no difference. */
  kind: string | null;
  /** @returns the ids of everything that a case could be about */
  make: () => Promise<string[]>;
}

const PAYIN = { kind: 'payin', amount: amount('5') } as const;
const YOUNG = { changedAt: ago(MINUTE_MS) };

const CASES: Case[] = [
  {
    what: 'a transfer of which we know nothing',
    kind: 'unknown_transfer',
    make: async () => [(await theyShow({ reference: 'po_nobody' })).id],
  },
  {
    what: 'a payout’s transfer at another provider',
    kind: 'unknown_transfer',
    make: async () => {
      const reference = await payout('completed');
      await theyShow({ reference });
      const other = { provider: 'exchange_pay' };
      return [(await theyShow({ reference }, undefined, other)).id, reference];
    },
  },
  {
    what: 'a payout’s transfer in the other mode',
    kind: 'unknown_transfer',
    make: async () => {
      const reference = await payout('approved');
      return [(await theyShow({ reference }, undefined, { mode: 'live' })).id, reference];
    },
  },
  {
    what: 'an unknown transfer that failed',
    kind: null,
    make: async () => [(await theyShow({ reference: 'po_nobody', state: 'void' })).id],
  },
  {
    what: 'another amount than the payout’s',
    kind: 'transfer_mismatch',
    make: async () => {
      const reference = await payout('completed');
      const { id } = await theyShow({ reference, amount: amount('10.00000001') });
      return [reference, id];
    },
  },
  {
    what: 'another currency than the payout’s',
    kind: 'transfer_mismatch',
    make: async () => {
      const reference = await payout('completed');
      return [reference, (await theyShow({ reference, currency: 'USDC' })).id];
    },
  },
  {
    what: 'two transfers for one payout',
    kind: 'sent_twice',
    make: async () => {
      const reference = await payout('completed');
      const ids = [(await theyShow({ reference })).id, (await theyShow({ reference })).id];
      return [reference, ...ids];
    },
  },
  {
    what: 'a second transfer that failed',
    kind: null,
    make: async () => {
      const reference = await payout('completed');
      await theyShow({ reference });
      return [reference, (await theyShow({ reference, state: 'void' })).id];
    },
  },
  {
    what: 'a completed payout that failed there',
    kind: 'completed_but_not_sent',
    make: async () => {
      const reference = await payout('completed');
      return [reference, (await theyShow({ reference, state: 'void' })).id];
    },
  },
  {
    what: 'a completed payout that is still pending there',
    kind: 'completed_but_not_sent',
    make: async () => {
      const reference = await payout('completed');
      return [reference, (await theyShow({ reference, state: 'pending' })).id];
    },
  },
  {
    what: 'a payout that completed after its provider was asked',
    kind: null,
    make: async () => {
      const reference = await payout('completed');
      const entry = { reference, state: 'pending' } as const;
      return [reference, (await theyShow(entry, ago(MINUTE_MS))).id];
    },
  },
  {
    what: 'a completed payout of which they were asked and know nothing',
    kind: 'completed_but_not_sent',
    make: async () => {
      const reference = await payout('completed');
      await theyShow({ reference, id: '', state: 'void' });
      return [reference];
    },
  },
  ...(['failed', 'rejected', 'cancelled'] as const).flatMap((status): Case[] => [
    {
      what: `a ${status} payout that was sent`,
      kind: 'sent_after_return_of_funds',
      make: async () => {
        const reference = await payout(status);
        return [reference, (await theyShow({ reference })).id];
      },
    },
    {
      what: `a ${status} payout that is pending there`,
      kind: 'pending_after_return_of_funds',
      make: async () => {
        const reference = await payout(status);
        return [reference, (await theyShow({ reference, state: 'pending' })).id];
      },
    },
    {
      what: `a ${status} payout that failed there`,
      kind: null,
      make: async () => {
        const reference = await payout(status);
        return [reference, (await theyShow({ reference, state: 'void' })).id];
      },
    },
  ]),
  ...(['under_review', 'approved', 'processing'] as const).flatMap((status): Case[] => [
    {
      what: `a payout that was sent two hours ago and is ${status}`,
      kind: 'sent_but_not_completed',
      make: async () => {
        const reference = await payout(status);
        return [reference, (await theyShow({ reference })).id];
      },
    },
    {
      what: `a payout that was sent a minute ago and is ${status}`,
      kind: null,
      make: async () => {
        const reference = await payout(status);
        return [reference, (await theyShow({ reference, ...YOUNG })).id];
      },
    },
  ]),
  {
    what: 'money for a payment that does not exist',
    kind: 'money_without_payment',
    make: async () => [(await theyShow({ ...PAYIN, reference: newId('payment') })).reference],
  },
  {
    what: 'money that came a minute ago for a payment that does not exist yet',
    kind: null,
    make: async () => [
      (await theyShow({ ...PAYIN, ...YOUNG, reference: newId('payment') })).reference,
    ],
  },
  ...(['failed', 'expired', 'completed', 'refunded'] as const).map((status): Case => {
    return {
      what: `confirmed money that a ${status} payment was not credited with`,
      kind: 'money_not_credited',
      make: async () => {
        const reference = await payment(status);
        await theyShow({ ...PAYIN, reference });
        return [reference];
      },
    };
  }),
  {
    what: 'a part of the money while the window is open',
    kind: null,
    make: async () => {
      const reference = await payment('processing', { expires_at: ago(-TWO_HOURS_MS) });
      await theyShow({ ...PAYIN, reference, amount: amount('2') });
      return [reference];
    },
  },
  {
    what: 'a part of the money long after the window closed',
    kind: 'money_not_credited',
    make: async () => {
      const reference = await payment('processing', { expires_at: ago(TWO_HOURS_MS) });
      await theyShow({ ...PAYIN, reference, amount: amount('2') });
      return [reference];
    },
  },
  {
    what: 'a part of the money while the rest is on its way',
    kind: null,
    make: async () => {
      const reference = await payment('processing', { expires_at: ago(TWO_HOURS_MS) });
      await theyShow({ ...PAYIN, reference, amount: amount('2') });
      await theyShow({ ...PAYIN, reference, amount: amount('3'), state: 'pending' });
      return [reference];
    },
  },
  {
    what: 'money that they hold',
    kind: null,
    make: async () => {
      const reference = await payment('on_hold', { expires_at: ago(TWO_HOURS_MS) });
      await theyShow({ ...PAYIN, reference, held: true });
      return [reference];
    },
  },
  {
    what: 'money that went back before it was credited',
    kind: null,
    make: async () => {
      const reference = await payment('refunded');
      await theyShow({ ...PAYIN, reference });
      await theyShow({ ...PAYIN, kind: 'refund', reference });
      return [reference];
    },
  },
  { what: 'a credit as they have it', kind: null, make: async () => [await credited()] },
  {
    what: 'a credit whose transfer vanished',
    kind: 'credited_but_not_received',
    make: async () => [await credited({ state: 'void' })],
  },
  {
    what: 'a credit whose transfer was confirmed after they were asked',
    kind: null,
    make: async () => [await credited({ state: 'pending' }, ago(MINUTE_MS))],
  },
  {
    what: 'a credit whose transfer is not in its checkout any more',
    kind: 'credited_but_not_received',
    make: async () => {
      const reference = await credited({}, ago(MINUTE_MS));
      const statement = { provider: 'onchain_provider', mode: 'test' } as const;
      await voidVanished(app, statement, ago(-MINUTE_MS), [reference]);
      return [reference];
    },
  },
  {
    what: 'a credit of another amount',
    kind: 'credit_mismatch',
    make: async () => [await credited({ amount: amount('4.99999999') })],
  },
  {
    what: 'a credit in another currency',
    kind: 'credit_mismatch',
    make: async () => [await credited({ currency: 'BTC' })],
  },
  {
    what: 'a refund that we have too',
    kind: null,
    make: async () => [await refunded({ amount: amount('1') })],
  },
  {
    what: 'a refund of another amount',
    kind: 'refund_mismatch',
    make: async () => [await refunded({ amount: amount('2') })],
  },
  {
    what: 'a refund that vanished',
    kind: 'refund_mismatch',
    make: async () => [await refunded({ amount: amount('1'), state: 'void' })],
  },
  {
    what: 'a refund that was never taken back',
    kind: 'refund_not_recorded',
    make: async () => {
      const reference = await credited();
      await theyShow({ kind: 'refund', reference, amount: amount('1') });
      return [reference];
    },
  },
  {
    what: 'a refund of a minute ago',
    kind: null,
    make: async () => {
      const reference = await credited();
      await theyShow({ kind: 'refund', reference, amount: amount('1'), ...YOUNG });
      return [reference];
    },
  },
];

async function refunded(entry: Partial<ProviderEntry>): Promise<string> {
  const reference = await credited();
  await refundPayment(app, key, reference, { taken: '0.99', fee: '0.01' });
  await theyShow({ kind: 'refund', reference, id: `refund-of-${reference}`, ...entry });
  return reference;
}

test.each(CASES)('$what: $kind', async ({ kind, make }) => {
  const before = (await verifyStatements(app)).broken;
  const objects = await make();
  await noteDifferences(app);
  expect(await kindsOf(...objects)).toEqual(kind === null ? [] : [kind]);
  expect((await verifyStatements(app)).broken).toBe(before + (kind === null ? 0 : 1));
  // What already has a case is not reported again.
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
});

test('no kind of difference goes without a case', async () => {
  const noted = await rows<{ kind: string }>(app, 'SELECT DISTINCT kind FROM cases');
  const shown = new Set(CASES.flatMap(({ kind }) => kind ?? []));
  expect(new Set(noted.map(({ kind }) => kind))).toEqual(shown);
});

test('what an operator has resolved is no difference, until something changes', async () => {
  const by = { actor: 'alice', reason: null };
  const resolve = async () => {
    const all = await listCases(app, false, 1_000);
    const { id } = all.find(({ objectId }) => objectId === entry.id)!;
    await resolveCase(app, by, id, { seen: 1, text: 'known to the provider' });
    expect((await findCase(app, id))?.resolution).toBe('known to the provider');
  };
  const before = (await verifyStatements(app)).broken;
  const entry = await theyShow({ reference: 'po_resolved', state: 'pending' });
  expect(await noteDifferences(app)).toEqual({ noted: 1 });
  await resolve();
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
  expect((await verifyStatements(app)).broken).toBe(before);

  await theyShow({ ...entry, state: 'done', changedAt: new Date(Date.now() + MINUTE_MS) });
  expect(await noteDifferences(app)).toEqual({ noted: 1 });
});

test('an answer that is older than the copy changes nothing', async () => {
  const reference = await payout('completed');
  const entry = await theyShow({ reference });
  await theyShow({ ...entry, state: 'pending' }, ago(MINUTE_MS));
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
});

test('a provider’s odd text is kept as far as it can be', async () => {
  const { id } = await theyShow({ reference: 'po_\0\ud800', id: `odd\0${newId('request')}` });
  await noteDifferences(app);
  expect(await kindsOf(id.replace('\0', '\ufffd'))).toEqual(['unknown_transfer']);
});

test('a statement’s place only goes forward', async () => {
  const statement = { provider: 'onchain_provider', mode: 'live', kind: 'payouts' } as const;
  const [early, late] = [ago(TWO_HOURS_MS), ago(MINUTE_MS)];
  await noteReading(app, statement, { changedUntil: late, readAt: late, trouble: null });
  await noteReading(app, statement, { changedUntil: early, readAt: null, trouble: 'away' });
  const sql = `SELECT changed_until, read_at, trouble FROM provider_statements WHERE mode = 'live'`;
  expect(await rows(app, sql)).toEqual([{ changedUntil: late, readAt: late, trouble: 'away' }]);
});
