/**
 * How a merchant's own list is compared with what the gateway has recorded
 * (decisions/books#merchant-reconciliation).
 */
import { add, type Amount, compare, ZERO } from './money';

/** The kinds of object that a list can name. */
export const RECONCILED = ['payment', 'payout', 'refund'] as const;
export type Reconciled = (typeof RECONCILED)[number];

/** The most rows of a list. */
export const RECONCILED_ROWS_MAX = 10_000;
/** The longest period in which objects are looked for that the list lacks, in days. */
export const RECONCILED_DAYS_MAX = 366;

/**
 * - `matched`: the amount is what has moved
 * - `different`: the reference is known, and something else is not equal
 * - `unknown`: the gateway has no object with the reference
 * - `missing`: money has moved for an object that the list does not have
 */
export const OUTCOMES = ['matched', 'different', 'unknown', 'missing'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * - `amount`: another amount has moved
 * - `currency`: the reference is that of an object in another currency
 * - `status`: nothing has moved, such as for an expired payment or a failed payout
 * - `repeated`: an earlier row has the same reference and currency
 */
export const DIFFERENCES = ['amount', 'currency', 'status', 'repeated'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** A row of the merchant's list. */
export interface ExpectedRow {
  reference: string;
  amount: Amount;
  currency: string;
}

/** The objects of one reference and currency. */
export interface RecordedObjects {
  reference: string | null;
  currency: string;
  /** The sum that has moved for them. */
  amount: Amount;
  objects: number;
  /** The id of the newest object for which money has moved, or else of the newest. */
  id: string;
  status: string;
}

/** A row with what the gateway has recorded, and the outcome. */
export interface ReconciledRow {
  /** The place in the list, from 1; null for what the list does not have. */
  row: number | null;
  outcome: Outcome;
  difference: Difference | null;
  reference: string | null;
  currency: string;
  expected: Amount | null;
  recorded: RecordedObjects | null;
}

/** Compares each row with the recorded sum of its reference and currency. */
export function compareRows(
  expected: readonly ExpectedRow[],
  recorded: readonly RecordedObjects[],
): ReconciledRow[] {
  const byReference = new Map<string | null, RecordedObjects[]>();
  for (const one of recorded) {
    byReference.set(one.reference, [...(byReference.get(one.reference) ?? []), one]);
  }
  const seen = new Set<string>();
  return expected.map(({ reference, currency, amount }, index) => {
    const known = byReference.get(reference) ?? [];
    const found = known.find((one) => one.currency === currency) ?? known[0] ?? null;
    const name = `${currency} ${reference}`;
    const difference = seen.has(name)
      ? 'repeated'
      : found === null
        ? null
        : differenceOf({ currency, amount }, found);
    seen.add(name);
    const outcome = difference !== null ? 'different' : found === null ? 'unknown' : 'matched';
    const head = { row: index + 1, outcome, difference } as const;
    return { ...head, reference, currency, expected: amount, recorded: found };
  });
}

function differenceOf(
  { currency, amount }: Pick<ExpectedRow, 'currency' | 'amount'>,
  found: RecordedObjects,
): Difference | null {
  if (found.currency !== currency) return 'currency';
  if (compare(found.amount, amount) === 0) return null;
  return compare(found.amount, ZERO) === 0 ? 'status' : 'amount';
}

/** A row about objects that the list lacks. */
export function missingRow(recorded: RecordedObjects): ReconciledRow {
  const { reference, currency } = recorded;
  const head = { row: null, outcome: 'missing', difference: null } as const;
  return { ...head, reference, currency, expected: null, recorded };
}

/** The sums of one currency. */
export interface ReconciledTotal {
  currency: string;
  expected: Amount;
  recorded: Amount;
}

/** The sums of each currency. An object that several rows name is counted once. */
export function totalsOf(rows: readonly ReconciledRow[]): ReconciledTotal[] {
  const totals = new Map<string, ReconciledTotal>();
  const of = (currency: string) => {
    const total = totals.get(currency) ?? { currency, expected: ZERO, recorded: ZERO };
    totals.set(currency, total);
    return total;
  };
  const counted = new Set<RecordedObjects>();
  for (const { currency, expected, recorded } of rows) {
    const total = of(currency);
    if (expected !== null) total.expected = add(total.expected, expected);
    if (recorded === null || counted.has(recorded)) continue;
    counted.add(recorded);
    const moved = of(recorded.currency);
    moved.recorded = add(moved.recorded, recorded.amount);
  }
  return [...totals.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** A validated list with its period. */
export interface ReconciliationRequest {
  kind: Reconciled;
  /** ISO 8601, inclusive: when the objects were created that the list may lack. */
  createdFrom: string;
  createdTo: string;
  rows: readonly ExpectedRow[];
}

/** The result of a comparison. */
export interface Reconciliation {
  kind: Reconciled;
  counts: Record<Outcome, number>;
  totals: ReconciledTotal[];
  /** The rows of the list in their order, and then the objects that the list lacks. */
  rows: ReconciledRow[];
  /** Whether more is missing than the rows show. */
  hasMoreMissing: boolean;
}
