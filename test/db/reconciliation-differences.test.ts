/**
 * In what a provider's statement may differ from ours, and what is no difference: rows of ours beside
 * the copy of theirs. test/e2e/statements.test.ts makes the copy from a provider.
 */
import { noteDifferences } from '../../activities/reconciliation/note-differences';
import { verifyStatements } from '../../src/db/ledger-verify';
import { findCase, listCases } from '../../src/db/repositories/cases';
import { type BalanceKey } from '../../src/db/repositories/ledger';
import {
  noteReading,
  type ProviderEntry,
  storeEntries,
  voidVanished,
} from '../../src/db/repositories/provider-statements';
import type { Db } from '../../src/db/transaction';
import { amount } from '../../src/domain/money';
import type { PaymentStatus } from '../../src/domain/payment';
import type { PayoutStatus } from '../../src/domain/payout';
import { newId } from '../../src/lib/new-id';
import { resolveCase } from '../../src/services/cases';
import { openTestDatabase } from '../support/servers/database';
import { started } from '../support/started';
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

const database = started(() => openTestDatabase({ app: 4 }));
let app: Db;
let key: BalanceKey;

beforeAll(async () => {
  ({ app } = database);
  key = { accountId: await makeAccount(app), mode: 'test', currency: 'USDT' };
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

async function refunded(entry: Partial<ProviderEntry>): Promise<string> {
  const reference = await credited();
  await refundPayment(app, key, reference, { taken: '0.99', fee: '0.01' });
  await theyShow({ kind: 'refund', reference, id: `refund-of-${reference}`, ...entry });
  return reference;
}

type Make = () => Promise<string[]>;
/** A null kind is no difference. @param make returns the ids of everything that a case could be about */
type Case = [what: string, kind: string | null, make: Make];

const PAYIN = { kind: 'payin', amount: amount('5') } as const;
const YOUNG = { changedAt: ago(MINUTE_MS) };
const OPEN_WINDOW = { expires_at: ago(-TWO_HOURS_MS) };
const CLOSED_WINDOW = { expires_at: ago(TWO_HOURS_MS) };
const PART = { amount: amount('2') };

/** A payout of ours in this status, and their transfer for it. */
function sent(status: PayoutStatus, entry: Partial<ProviderEntry> = {}, readAt?: Date): Make {
  return async () => {
    const reference = await payout(status);
    return [reference, (await theyShow({ reference, ...entry }, readAt)).id];
  };
}

/** The same at another provider or in the other mode, where it is about no payout. */
function sentElsewhere(status: PayoutStatus, place: object): Make {
  return async () => {
    const reference = await payout(status);
    if (status === 'completed') await theyShow({ reference });
    return [(await theyShow({ reference }, undefined, place)).id, reference];
  };
}

/** Two transfers of theirs for one completed payout. */
function sentTwice(second: Partial<ProviderEntry> = {}): Make {
  return async () => {
    const reference = await payout('completed');
    const { id } = await theyShow({ reference });
    return [reference, id, (await theyShow({ reference, ...second })).id];
  };
}

/** A transfer of theirs of which we have nothing. */
function unknown(entry: Entry): Make {
  return async () => {
    const { id, reference } = await theyShow(entry);
    return [entry.kind === 'payin' ? reference : id];
  };
}

/** A payment of ours in this status without a credit, and what came for it there. */
function came(
  status: PaymentStatus,
  columns: object = {},
  ...entries: Partial<ProviderEntry>[]
): Make {
  return async () => {
    const reference = await payment(status, columns);
    for (const entry of entries) await theyShow({ ...PAYIN, reference, ...entry });
    return [reference];
  };
}

const credit =
  (...shown: Parameters<typeof credited>): Make =>
  async () => [await credited(...shown)];

const refund =
  (entry: Partial<ProviderEntry>): Make =>
  async () => [await refunded(entry)];

/** A credit, and a refund of theirs that we have not. */
function refundedThere(entry: Partial<ProviderEntry> = {}): Make {
  return async () => {
    const reference = await credited();
    await theyShow({ kind: 'refund', reference, amount: amount('1'), ...entry });
    return [reference];
  };
}

const PAYOUT_CASES: Case[] = [
  ['a transfer of which we know nothing', 'unknown_transfer', unknown({ reference: 'po_nobody' })],
  [
    'a payout’s transfer at another provider',
    'unknown_transfer',
    sentElsewhere('completed', { provider: 'exchange_pay' }),
  ],
  [
    'a payout’s transfer in the other mode',
    'unknown_transfer',
    sentElsewhere('approved', { mode: 'live' }),
  ],
  ['an unknown transfer that failed', null, unknown({ reference: 'po_nobody', state: 'void' })],
  [
    'another amount than the payout’s',
    'transfer_mismatch',
    sent('completed', { amount: amount('10.00000001') }),
  ],
  [
    'another currency than the payout’s',
    'transfer_mismatch',
    sent('completed', { currency: 'USDC' }),
  ],
  ['two transfers for one payout', 'sent_twice', sentTwice()],
  ['a second transfer that failed', null, sentTwice({ state: 'void' })],
  [
    'a completed payout that failed there',
    'completed_but_not_sent',
    sent('completed', { state: 'void' }),
  ],
  [
    'a completed payout that is still pending there',
    'completed_but_not_sent',
    sent('completed', { state: 'pending' }),
  ],
  [
    'a payout that completed after its provider was asked',
    null,
    sent('completed', { state: 'pending' }, ago(MINUTE_MS)),
  ],
  [
    'a completed payout of which they were asked and know nothing',
    'completed_but_not_sent',
    sent('completed', { id: '', state: 'void' }),
  ],
  ...(['failed', 'rejected', 'cancelled'] as const).flatMap((status): Case[] => [
    [`a ${status} payout that was sent`, 'sent_after_return_of_funds', sent(status)],
    [
      `a ${status} payout that is pending there`,
      'pending_after_return_of_funds',
      sent(status, { state: 'pending' }),
    ],
    [`a ${status} payout that failed there`, null, sent(status, { state: 'void' })],
  ]),
  ...(['under_review', 'approved', 'processing'] as const).flatMap((status): Case[] => [
    [
      `a payout that was sent two hours ago and is ${status}`,
      'sent_but_not_completed',
      sent(status),
    ],
    [`a payout that was sent a minute ago and is ${status}`, null, sent(status, YOUNG)],
  ]),
];

const PAYMENT_CASES: Case[] = [
  [
    'money for a payment that does not exist',
    'money_without_payment',
    unknown({ ...PAYIN, reference: newId('payment') }),
  ],
  [
    'money that came a minute ago for a payment that does not exist yet',
    null,
    unknown({ ...PAYIN, ...YOUNG, reference: newId('payment') }),
  ],
  ...(['failed', 'expired', 'completed', 'refunded'] as const).map((status): Case => [
    `confirmed money that a ${status} payment was not credited with`,
    'money_not_credited',
    came(status, {}, {}),
  ]),
  ['a part of the money while the window is open', null, came('processing', OPEN_WINDOW, PART)],
  [
    'a part of the money long after the window closed',
    'money_not_credited',
    came('processing', CLOSED_WINDOW, PART),
  ],
  [
    'a part of the money while the rest is on its way',
    null,
    came('processing', CLOSED_WINDOW, PART, { amount: amount('3'), state: 'pending' }),
  ],
  ['money that they hold', null, came('on_hold', CLOSED_WINDOW, { held: true })],
  [
    'money that went back before it was credited',
    null,
    came('refunded', {}, {}, { kind: 'refund' }),
  ],
  ['a credit as they have it', null, credit()],
  ['a credit whose transfer vanished', 'credited_but_not_received', credit({ state: 'void' })],
  [
    'a credit whose transfer was confirmed after they were asked',
    null,
    credit({ state: 'pending' }, ago(MINUTE_MS)),
  ],
  [
    'a credit whose transfer is not in its checkout any more',
    'credited_but_not_received',
    async () => {
      const reference = await credited({}, ago(MINUTE_MS));
      const statement = { provider: 'onchain_provider', mode: 'test' } as const;
      await voidVanished(app, statement, ago(-MINUTE_MS), [reference]);
      return [reference];
    },
  ],
  ['a credit of another amount', 'credit_mismatch', credit({ amount: amount('4.99999999') })],
  ['a credit in another currency', 'credit_mismatch', credit({ currency: 'BTC' })],
  ['a refund that we have too', null, refund({ amount: amount('1') })],
  ['a refund of another amount', 'refund_mismatch', refund(PART)],
  ['a refund that vanished', 'refund_mismatch', refund({ amount: amount('1'), state: 'void' })],
  ['a refund that was never taken back', 'refund_not_recorded', refundedThere()],
  ['a refund of a minute ago', null, refundedThere(YOUNG)],
];
const CASES = [...PAYOUT_CASES, ...PAYMENT_CASES];

test.each(CASES)('%s: %s', async (_what, kind, make) => {
  const before = (await verifyStatements(app)).broken;
  const objects = await make();
  await noteDifferences(app);
  expect(await kindsOf(...objects)).toEqual(kind === null ? [] : [kind]);
  expect((await verifyStatements(app)).broken).toBe(before + (kind === null ? 0 : 1));
  // What already has a case is not reported again.
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
});

test('no kind of difference goes without a case', async () => {
  const noted = await app.query<{ kind: string }>('SELECT DISTINCT kind FROM cases');
  const shown = new Set(CASES.flatMap(([, kind]) => kind ?? []));
  expect(new Set(noted.map(({ kind }) => kind))).toEqual(shown);
});

test('what an operator has resolved is no difference, until something changes', async () => {
  const by = { actor: 'alice', reason: null };
  const resolve = async () => {
    const all = await listCases(app, false, 1_000);
    const { id } = all.find(({ objectId }) => objectId === entry.id)!;
    await resolveCase.make(app, by, { id, seen: 1 }, { resolution: 'known to the provider' });
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
  expect(await app.query(sql)).toEqual([{ changedUntil: late, readAt: late, trouble: 'away' }]);
});
