/**
 * The costs of the rows of a batch, and the rows that are refused. Pure, and used twice with the same
 * facts: by the API, and under the locks of the reserving transaction, which decides. Each row is
 * judged as if the rows before it had been accepted.
 */
import type { SealedBeneficiary } from './beneficiary';
import { errorEntry, type Refusal, REFUSED_ROWS_SHOWN } from './errors';
import type { Mode } from './mode';
import { type Amount, add, isLess, ZERO } from './money';
import type { PayoutRequest } from './payout';
import type { PayoutBatchTotals } from './payout-batch';
import type { ReviewReason } from './review';
import type { ChosenRoute } from './route';
import { needsSecondPerson } from './second-person';
import {
  insufficientBalance,
  type PayoutFacts,
  type PayoutTerms,
  payoutTermsOnCredit,
} from './terms';

/** A row with the route that the API has chosen. */
export interface RoutedRow {
  /** The number of the row from 1, which counts the rows without a route too. */
  row: number;
  request: PayoutRequest;
  /** Whether its destination is no first use to the review (domain/recipient.ts). */
  isKnownRecipient: boolean;
  route: ChosenRoute & {
    networkFee: Amount;
    recipientSince?: string;
    beneficiary?: SealedBeneficiary;
  };
}

/** The facts of the database about the rows that share a provider, network and currency. */
export type GroupFacts = Omit<PayoutFacts, 'destinationUsedBefore' | 'existingId'>;

/** What the database knows about a batch and its rows. */
export interface BatchFacts {
  groupOf(row: RoutedRow): GroupFacts;
  /** The payout that has this reference already, or null. */
  existingIdOf(reference: string): string | null;
  isUsedDestination(row: RoutedRow): boolean;
}

/** A row of a batch that is refused, and why. */
export interface RowFault {
  /** The number of the row, from 1. */
  row: number;
  /** The reference of the row; null when it cannot be read. */
  reference: string | null;
  refusal: Refusal;
}

/** The costs of a batch, its refused rows, and whether it needs a review or a second person. */
export interface BatchTerms {
  /** The terms of each row in order; null for a row that is refused. */
  rows: (PayoutTerms | null)[];
  faults: RowFault[];
  /**
   * The totals by currency, in the order of the first row of each, without the rows that are refused.
   */
  totals: PayoutBatchTotals[];
  /** A currency whose balance does not cover its rows. */
  shortage: Refusal | null;
  /** The review reasons of the rows and of the batch as a whole. */
  reviewReasons: ReviewReason[];
  /** Whether the sum of the rows of a currency needs a second person, as one payout of that amount would. */
  needsSecondPerson: boolean;
}

/** The amounts that the accepted rows have used of a currency. */
interface Used extends PayoutBatchTotals {
  autoApproved: Amount;
  facts: GroupFacts;
}

/** Judges all rows of a batch in one step. */
export function batchTerms(mode: Mode, rows: readonly RoutedRow[], facts: BatchFacts): BatchTerms {
  const steps = batchTermsInSteps(mode, rows, facts);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** After so many rows other requests are answered; ten thousand rows take half a second in all. */
const ROWS_IN_A_STEP = 100;

/** Works as `batchTerms` does, a step of ROWS_IN_A_STEP rows at a time; the last value is the result. */
export function* batchTermsInSteps(
  mode: Mode,
  rows: readonly RoutedRow[],
  facts: BatchFacts,
): Generator<void, BatchTerms, void> {
  const used = new Map<string, Used>();
  const rowsByReference = new Map<string, number>();
  const faults: RowFault[] = [];
  const terms: (PayoutTerms | null)[] = [];
  for (const row of rows) {
    if (terms.length % ROWS_IN_A_STEP === 0) yield;
    const { reference, currency } = row.request;
    const sum = used.get(currency) ?? unused(currency, facts.groupOf(row));
    const earlier = rowsByReference.get(reference);
    rowsByReference.set(reference, earlier ?? row.row);
    const outcome =
      earlier === undefined ? termsOf(mode, row, sum, facts) : { refusal: sameReference(earlier) };
    if ('refusal' in outcome) {
      faults.push({ row: row.row, reference, refusal: outcome.refusal });
      terms.push(null);
      continue;
    }
    used.set(currency, withRow(sum, row, outcome.terms));
    terms.push(outcome.terms);
  }
  const sums = [...used.values()];
  return {
    rows: terms,
    faults,
    totals: sums.map(({ autoApproved: _autoApproved, facts: _facts, ...totals }) => totals),
    shortage: shortageOf(sums),
    reviewReasons: reviewReasonsOf(mode, terms, sums),
    needsSecondPerson: sums.some(({ facts: { secondPersonAbove }, amount }) =>
      needsSecondPerson(secondPersonAbove, amount),
    ),
  };
}

/** The refusal of a batch: nothing is created unless every row can be. */
export function rowsRefused(faults: readonly RowFault[]): Refusal<'rows_refused'> {
  const shown = faults.slice(0, REFUSED_ROWS_SHOWN).map(presentFault);
  return { code: 'rows_refused', details: { refused: faults.length, rows: shown } };
}

/** A refused row as the API and the pages show it. */
export function presentFault({ row, reference, refusal }: RowFault) {
  const { code, message = errorEntry(code).message, details = null } = refusal;
  return { row, reference, code, message, details };
}

function unused(currency: string, facts: GroupFacts): Used {
  const nothing = { amount: ZERO, serviceFee: ZERO, networkFee: ZERO, totalDebit: ZERO };
  return { currency, rows: 0, ...nothing, autoApproved: ZERO, facts };
}

function termsOf(mode: Mode, row: RoutedRow, sum: Used, facts: BatchFacts) {
  const { request, route } = row;
  const group = facts.groupOf(row);
  return payoutTermsOnCredit(mode, request, route.networkFee, {
    ...group,
    // One person approves the batch as a whole.
    secondPersonAbove: null,
    usedToday: add(group.usedToday, sum.amount),
    key: { ...group.key, usedToday: add(group.key.usedToday, sum.amount) },
    autoApprovedToday: add(group.autoApprovedToday, sum.autoApproved),
    destinationUsedBefore: row.isKnownRecipient || facts.isUsedDestination(row),
    existingId: facts.existingIdOf(request.reference),
  });
}

function withRow(sum: Used, { request, route }: RoutedRow, terms: PayoutTerms): Used {
  const isAutomatic = terms.reviewReasons.length === 0;
  return {
    ...sum,
    rows: sum.rows + 1,
    amount: add(sum.amount, request.amount),
    serviceFee: add(sum.serviceFee, terms.serviceFee),
    networkFee: add(sum.networkFee, route.networkFee),
    totalDebit: add(sum.totalDebit, terms.totalDebit),
    autoApproved: isAutomatic ? add(sum.autoApproved, request.amount) : sum.autoApproved,
  };
}

function shortageOf(sums: readonly Used[]): Refusal | null {
  const short = sums.find(({ facts, totalDebit }) => isLess(facts.available, totalDebit));
  if (short === undefined) return null;
  return insufficientBalance(short.currency, short.facts.available, short.totalDebit);
}

/**
 * The reasons of the rows and of their sums: many small rows must not pass below a threshold that their sum
 * exceeds.
 */
function reviewReasonsOf(
  mode: Mode,
  rows: readonly (PayoutTerms | null)[],
  sums: readonly Used[],
): ReviewReason[] {
  const reasons = new Set(rows.flatMap((row) => row?.reviewReasons ?? []));
  const isAbove = ({ facts: { fourEyesThreshold }, amount }: Used) =>
    fourEyesThreshold !== null && isLess(fourEyesThreshold, amount);
  if (mode === 'live' && sums.some(isAbove)) reasons.add('above_four_eyes_threshold');
  return [...reasons];
}

function sameReference(earlier: number): Refusal {
  const message = `Row ${earlier} has the same reference. Use another reference for each row.`;
  return {
    code: 'validation_failed',
    details: { fields: [{ field: 'reference', rule: 'format', message }] },
  };
}
