/** Payouts and payments of ours beside the copy of a provider's statement: what agrees, and what does not. */
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import { type ProviderEntry, storeEntries } from '../../../src/db/books/provider-statements';
import type { Db } from '../../../src/db/transaction';
import { amount } from '../../../src/domain/money';
import type { PaymentStatus } from '../../../src/domain/payment';
import type { PayoutStatus } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  creditPayment,
  insertPayment,
  insertPayout,
  makeAccount,
  refundPayment,
} from '../../support/merchant/ledger';

export const MINUTE_MS = 60_000;
export const TWO_HOURS_MS = 120 * MINUTE_MS;
export const ago = (ms: number) => new Date(Date.now() - ms);

export interface Books {
  app: Db;
  key: BalanceKey;
}

/** A database with one account. */
export async function startBooks() {
  const { app, stop } = await openTestDatabase({ app: 4 });
  const key: BalanceKey = { accountId: await makeAccount(app), mode: 'test', currency: 'USDT' };
  return { app, key, stop };
}

type Entry = Partial<ProviderEntry>;

/** What the provider shows, read a minute from now, after everything that a test writes. */
export async function theyShow(
  { app }: Books,
  entry: Entry & Pick<ProviderEntry, 'reference'>,
  readAt = ago(-MINUTE_MS),
  place: object = {},
): Promise<ProviderEntry> {
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

/** A payout of 10. */
export async function payout({ app, key }: Books, status: PayoutStatus): Promise<string> {
  const money = buildPayoutMoney('10');
  await insertPayout(app, key, money, status);
  return money.id;
}

/** The credit of 5 with a transfer of theirs. */
export async function credited(books: Books, entry: Entry = {}, readAt?: Date): Promise<string> {
  const reference = await creditPayment(books.app, books.key, '5', '0.05');
  const id = `transfer-of-${reference}`;
  await theyShow(books, { ...PAYIN, reference, id, ...entry }, readAt);
  return reference;
}

export const PAYIN = { kind: 'payin', amount: amount('5') } as const;

/** Writes a row of the table of differences. @returns the ids of everything that a case could be about */
export type Make = (books: Books) => Promise<string[]>;

/** A payout of ours in this status, and their transfer for it. */
export function sent(status: PayoutStatus, entry: Entry = {}, readAt?: Date): Make {
  return async (books) => {
    const reference = await payout(books, status);
    return [reference, (await theyShow(books, { reference, ...entry }, readAt)).id];
  };
}

/** The same at another provider or in the other mode, where it is about no payout. */
export function sentElsewhere(status: PayoutStatus, place: object): Make {
  return async (books) => {
    const reference = await payout(books, status);
    if (status === 'completed') await theyShow(books, { reference });
    return [(await theyShow(books, { reference }, undefined, place)).id, reference];
  };
}

/** Two transfers of theirs for one completed payout. */
export function sentTwice(second: Entry = {}): Make {
  return async (books) => {
    const reference = await payout(books, 'completed');
    const { id } = await theyShow(books, { reference });
    return [reference, id, (await theyShow(books, { reference, ...second })).id];
  };
}

/** A transfer of theirs of which we have nothing. */
export function unknown(entry: Entry & Pick<ProviderEntry, 'reference'>): Make {
  return async (books) => {
    const { id, reference } = await theyShow(books, entry);
    return [entry.kind === 'payin' ? reference : id];
  };
}

/** A payment of ours in this status without a credit, and what came for it there. */
export function came(status: PaymentStatus, columns: object = {}, ...entries: Entry[]): Make {
  return async (books) => {
    const reference = await insertPayment(books.app, books.key, status, { ...columns });
    for (const entry of entries) await theyShow(books, { ...PAYIN, reference, ...entry });
    return [reference];
  };
}

export function credit(entry: Entry = {}, readAt?: Date): Make {
  return async (books) => [await credited(books, entry, readAt)];
}

/** A credit, a refund of it, and the refund that they show. */
export function refund(entry: Entry): Make {
  return async (books) => {
    const reference = await credited(books);
    await refundPayment(books.app, books.key, reference, { taken: '0.99', fee: '0.01' });
    await theyShow(books, { kind: 'refund', reference, id: `refund-of-${reference}`, ...entry });
    return [reference];
  };
}

/** A credit, and a refund of theirs that we do not have. */
export function refundedThere(entry: Entry = {}): Make {
  return async (books) => {
    const reference = await credited(books);
    await theyShow(books, { kind: 'refund', reference, amount: amount('1'), ...entry });
    return [reference];
  };
}
