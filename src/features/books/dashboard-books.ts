/** Monthly statements and daily volumes, from the ledger. */
import type { Owner } from '../../domain/mode';
import { asAccount } from '../../db/as-account';
import { readDaySums, readStatement } from '../../db/books/month-statement';
import { listBalances } from '../../db/ledger/ledger';
import { firstPostedAt } from '../../db/books/statements';
import type { Db } from '../../db/transaction';
import type { Amount } from '../../domain/money';
import { type DaySum, nextMonth, type Statement, total } from '../../domain/statement';

export interface DayVolume {
  day: string;
  /** The amount received, before fees. */
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
/** The most postings that the chart adds up beside the stored sums; they take at most some 50 ms. */
const UNSUMMED_MAX = 2_000;
const MONTHS_MAX = 120;

export function createDashboardBooks(pool: Db, unsummedMax = UNSUMMED_MAX) {
  const ofAccount = ({ accountId }: { accountId: string }) => asAccount(pool, accountId);

  async function currenciesOf(owner: Owner): Promise<string[]> {
    const balances = await listBalances(ofAccount(owner), owner.accountId, owner.mode);
    return balances.map(({ currency }) => currency);
  }

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

    statement: ({ accountId, mode }: Owner, currency: string, month: string): Promise<Statement> =>
      readStatement(asAccount(pool, accountId), { accountId, mode, currency }, month),

    /** The last days including today; only currencies with a balance. */
    volumes: async (owner: Owner, days: number): Promise<Volume[]> => {
      const today = new Date(`${dayOf(new Date())}T00:00:00.000Z`).getTime();
      const dates = Array.from({ length: days }, (_, n) => today - (days - 1 - n) * DAY_MS);
      const [from, to] = [new Date(dates[0] ?? today), new Date(today + DAY_MS)];
      const found = [];
      for (const currency of await currenciesOf(owner)) {
        const { accountId, mode } = owner;
        const key = { accountId, mode, currency };
        const range = { from, to, addedMax: unsummedMax };
        const { sums, counted, last } = await readDaySums(ofAccount(owner), key, range);
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

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
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
