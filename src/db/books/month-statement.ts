/** Reads the sums of a balance's days and the statement of a month (decisions/books#statements). */
import {
  type DaySum,
  type Held,
  monthBounds,
  type Statement,
  statementOf,
} from '../../domain/statement';
import type { BalanceKey } from '../ledger/ledger';
import {
  balanceAfter,
  countPostings,
  countStoredPieces,
  PIECE,
  readStoredSums,
  sumPostings,
} from './statements';
import type { Reader } from '../transaction';

/** The sums of the days from `from` to before `to`, and the number of postings before each. */
export async function readDaySums(
  db: Reader,
  key: BalanceKey,
  { from, to, addedMax = Infinity }: { from: Date; to: Date; addedMax?: number },
): Promise<{ before: number; last: number; counted: number; sums: DaySum[] }> {
  const [before, last] = [await countPostings(db, key, from), await countPostings(db, key, to)];
  const [first, end] = [Math.floor(before / PIECE), Math.floor(last / PIECE)];
  const stored = Math.min(Math.max(await countStoredPieces(db, key), first), end);
  const counted = Math.min(last, stored * PIECE + addedMax);
  const sums = [
    ...(await readStoredSums(db, key, first, stored)),
    ...(await sumPostings(db, key, stored * PIECE, counted)),
  ];
  // The first piece also has postings before the first day.
  const firstDay = from.toISOString().slice(0, 10);
  return { before, last, counted, sums: sums.filter(({ day }) => day >= firstDay) };
}

/** @param month such as `2026-11` */
export async function readStatement(
  db: Reader,
  key: BalanceKey,
  month: string,
): Promise<Statement> {
  const { before, last, sums } = await readDaySums(db, key, monthBounds(month));
  const heldAfter = async (postings: number): Promise<Held> => ({
    available: await balanceAfter(db, key, 'available', postings),
    reserved: await balanceAfter(db, key, 'reserved', postings),
  });
  const [opening, closing] = [await heldAfter(before), await heldAfter(last)];
  return statementOf({ currency: key.currency, month, opening, closing }, sums);
}
