/** Monthly statements and daily volumes, from the ledger. */
import { asAccount } from '../db/as-account';
import { listBalances, type BalanceKey } from '../db/repositories/ledger';
import {
  balanceAfter,
  countPostings,
  countStoredPieces,
  type DaySum,
  firstPostedAt,
  PIECE,
  readStoredSums,
  sumPostings,
} from '../db/repositories/statements';
import type { Db } from '../db/transaction';
import { TRANSACTION_TYPES, type TransactionType } from '../domain/ledger';
import { add, type Amount, subtract, ZERO } from '../domain/money';
import type { Owner } from './own';

export interface Held {
  available: Amount;
  reserved: Amount;
}

export interface Movement extends Held {
  type: TransactionType;
  postings: number;
}

export interface Statement {
  currency: string;
  /** `2026-11` */
  month: string;
  opening: Held;
  movements: Movement[];
  closing: Held;
  /** Included in the movements. */
  serviceFees: Amount;
  networkFees: Amount;
}

export interface DayVolume {
  day: string;
  /** Before fees. */
  received: Amount;
  sent: Amount;
}

export interface Volume {
  currency: string;
  /** Oldest first. */
  days: DayVolume[];
  /** The newest postings, when too many for a page are not summed yet. */
  uncounted: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** What the chart adds up beside the stored sums: at most some 50 ms. */
const UNSUMMED_MAX = 2_000;
const MONTHS_MAX = 120;

export function createDashboardBooks(pool: Db, unsummedMax = UNSUMMED_MAX) {
  const ofAccount = ({ accountId }: { accountId: string }) => asAccount(pool, accountId);

  /** The sums of the days from `from` to before `to`, and the postings before each. */
  async function sumsOf(key: BalanceKey, from: Date, to: Date, addedMax = Infinity) {
    const db = ofAccount(key);
    const [before, last] = [await countPostings(db, key, from), await countPostings(db, key, to)];
    const [first, end] = [before, last].map((count) => Math.floor(count / PIECE)) as [
      number,
      number,
    ];
    const stored = Math.min(Math.max(await countStoredPieces(db, key), first), end);
    const counted = Math.min(last, stored * PIECE + addedMax);
    const sums = [
      ...(await readStoredSums(db, key, first, stored)),
      ...(await sumPostings(db, key, stored * PIECE, counted)),
    ];
    // The first piece also has postings before the first day.
    const firstDay = dayOf(from);
    return { before, last, counted, sums: sums.filter(({ day }) => day >= firstDay) };
  }

  async function currenciesOf(owner: Owner): Promise<string[]> {
    const balances = await listBalances(ofAccount(owner), owner.accountId, owner.mode);
    return balances.map(({ currency }) => currency);
  }

  const heldAfter = async (key: BalanceKey, postings: number): Promise<Held> => ({
    available: await balanceAfter(ofAccount(key), key, 'available', postings),
    reserved: await balanceAfter(ofAccount(key), key, 'reserved', postings),
  });

  return {
    /** The months that have a statement, newest first, by currency. */
    months: async (owner: Owner) => {
      const found = [];
      for (const currency of await currenciesOf(owner)) {
        const first = await firstPostedAt(ofAccount(owner), { ...owner, currency });
        if (first !== null) found.push({ currency, months: monthsSince(first) });
      }
      return found;
    },

    statement: async (
      { accountId, mode }: Owner,
      currency: string,
      month: string,
    ): Promise<Statement> => {
      const key = { accountId, mode, currency };
      const from = new Date(`${month}-01T00:00:00.000Z`);
      const { before, last, sums } = await sumsOf(key, from, nextMonth(from));
      const opening = await heldAfter(key, before);
      const closing = await heldAfter(key, last);
      const movements = movementsOf(sums);
      checkSum(opening, movements, closing);
      return {
        currency,
        month,
        opening,
        movements,
        closing,
        serviceFees: net(sums, { account: 'fee_income' }),
        networkFees: net(sums, { account: 'network_cost' }),
      };
    },

    /** The last days including today; only currencies with a balance. */
    volumes: async (owner: Owner, days: number): Promise<Volume[]> => {
      const today = new Date(`${dayOf(new Date())}T00:00:00.000Z`).getTime();
      const dates = Array.from({ length: days }, (_, n) => today - (days - 1 - n) * DAY_MS);
      const [from, to] = [new Date(dates[0] ?? today), new Date(today + DAY_MS)];
      const found = [];
      for (const currency of await currenciesOf(owner)) {
        const { accountId, mode } = owner;
        const key = { accountId, mode, currency };
        const { sums, counted, last } = await sumsOf(key, from, to, unsummedMax);
        const byDay = dates.map((at) => volumeOf(dayOf(new Date(at)), sums));
        found.push({ currency, days: byDay, uncounted: last - counted });
      }
      return found;
    },
  };
}

function volumeOf(day: string, sums: readonly DaySum[]): DayVolume {
  const ofDay = sums.filter((sum) => sum.day === day);
  const received = ofDay.filter(
    ({ type, account, direction }) =>
      type === 'payin_settlement' && account === 'available' && direction === 'in',
  );
  const sent = ofDay.filter(
    ({ type, account }) => type === 'payout_settlement' && account === 'provider_clearing',
  );
  return { day, received: total(received), sent: total(sent) };
}

function movementsOf(sums: readonly DaySum[]): Movement[] {
  return TRANSACTION_TYPES.flatMap((type) => {
    const ofType = sums.filter((sum) => sum.type === type);
    if (ofType.length === 0) return [];
    const postings = ofType.reduce((count, sum) => count + sum.postings, 0);
    const available = net(ofType, { account: 'available' });
    return [{ type, postings, available, reserved: net(ofType, { account: 'reserved' }) }];
  });
}

function net(sums: readonly DaySum[], { account }: Pick<DaySum, 'account'>): Amount {
  const ofAccount = sums.filter((sum) => sum.account === account);
  return subtract(
    total(ofAccount.filter(({ direction }) => direction === 'in')),
    total(ofAccount.filter(({ direction }) => direction === 'out')),
  );
}

function total(sums: readonly DaySum[]): Amount {
  return add(ZERO, ...sums.map((sum) => sum.amount));
}

/** A statement that does not add up must not be printed. */
function checkSum(opening: Held, movements: readonly Movement[], closing: Held): void {
  for (const account of ['available', 'reserved'] as const) {
    const expected = add(opening[account], ...movements.map((movement) => movement[account]));
    if (expected !== closing[account]) {
      throw new Error(`the statement's ${account}: ${expected} is not ${closing[account]}`);
    }
  }
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function nextMonth(first: Date): Date {
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1));
}

/** Newest first, the current one included. */
function monthsSince(first: Date): string[] {
  const months: string[] = [];
  const start = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), 1));
  for (let at = start; at <= new Date(); at = nextMonth(at)) {
    months.unshift(at.toISOString().slice(0, 7));
  }
  return months.slice(0, MONTHS_MAX);
}
