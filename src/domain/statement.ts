/** The statement of a month: sums of a balance's postings, in UTC. */
import type { MerchantLedgerAccount, PlatformLedgerAccount } from './ledger';
import { TRANSACTION_TYPES, type TransactionType } from './ledger';
import { add, type Amount, subtract, ZERO } from './money';

/** The sum of a day's postings of one type to one account, in one direction. */
export interface DaySum {
  /** `2026-11-22`, in UTC. */
  day: string;
  type: TransactionType;
  account: MerchantLedgerAccount | PlatformLedgerAccount;
  direction: 'in' | 'out';
  amount: Amount;
  /** The number of postings; each transaction counts once. */
  postings: number;
}

/** Available and reserved amounts at one moment. */
export interface Held {
  available: Amount;
  reserved: Amount;
}

/** The changes by the postings of one type in the month. */
export interface Movement extends Held {
  type: TransactionType;
  postings: number;
}

/** The statement of one currency for one month. */
export interface Statement {
  currency: string;
  /** `2026-11` */
  month: string;
  opening: Held;
  movements: Movement[];
  closing: Held;
  /** The fees, which the movements include. */
  serviceFees: Amount;
  networkFees: Amount;
}

/** @throws when the sums do not lead from the opening to the closing balance: nobody may print that */
export function statementOf(
  {
    currency,
    month,
    opening,
    closing,
  }: Omit<Statement, 'movements' | 'serviceFees' | 'networkFees'>,
  sums: readonly DaySum[],
): Statement {
  const movements = movementsOf(sums);
  for (const account of ['available', 'reserved'] as const) {
    const expected = add(opening[account], ...movements.map((movement) => movement[account]));
    if (expected !== closing[account]) {
      throw new Error(`the statement's ${account}: ${expected} is not ${closing[account]}`);
    }
  }
  const [serviceFees, networkFees] = [net(sums, 'fee_income'), net(sums, 'network_cost')];
  return { currency, month, opening, movements, closing, serviceFees, networkFees };
}

function movementsOf(sums: readonly DaySum[]): Movement[] {
  return TRANSACTION_TYPES.flatMap((type) => {
    const ofType = sums.filter((sum) => sum.type === type);
    if (ofType.length === 0) return [];
    const postings = ofType.reduce((count, sum) => count + sum.postings, 0);
    return [
      { type, postings, available: net(ofType, 'available'), reserved: net(ofType, 'reserved') },
    ];
  });
}

function net(sums: readonly DaySum[], account: DaySum['account']): Amount {
  const ofAccount = sums.filter((sum) => sum.account === account);
  return subtract(
    total(ofAccount.filter(({ direction }) => direction === 'in')),
    total(ofAccount.filter(({ direction }) => direction === 'out')),
  );
}

/** The sum of the amounts. */
export function total(sums: readonly DaySum[]): Amount {
  return add(ZERO, ...sums.map((sum) => sum.amount));
}

/** The first moment of a month such as `2026-11`, and of the one after it. */
export function monthBounds(month: string): { from: Date; to: Date } {
  const from = new Date(`${month}-01T00:00:00.000Z`);
  return { from, to: nextMonth(from) };
}

/** @returns the time that the statement reaches to; null when its month is over */
export function runningUntil(month: string, now: Date): Date | null {
  return now < monthBounds(month).to ? now : null;
}

/** The first moment of the month after that of `first`, in UTC. */
export function nextMonth(first: Date): Date {
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1));
}
