/**
 * A batch of payouts: its statuses and transitions. The rows are payouts of their own. A batch reaches
 * a final status only when every row has ended, so a final status is also a closed account: sent +
 * failed + returned = manifest.
 */
import type { Owner } from './mode';
import { type Amount, add, ZERO } from './money';
import type { Payout, PayoutOrder } from './payout';
import type { DecisionOutcome } from './payout-decision';
import type { ReviewReason } from './review';

/** The statuses of a batch. */
export const PAYOUT_BATCH_STATUSES = [
  'requested',
  'under_review',
  'processing',
  'completed',
  'partially_completed',
  'stopped',
  'rejected',
] as const;
export type PayoutBatchStatus = (typeof PAYOUT_BATCH_STATUSES)[number];

/**
 * - `approve`: an operator's decision that names the manifest, or the end of the auto-approve delay
 * - `review`: a threshold that was lowered meanwhile lets two operators approve a requested batch
 * - `complete`: every row was sent
 * - `complete_partially`: every row has ended, and at least one was not sent
 * - `stop`: somebody stopped the batch, and every row has ended
 * - `reject`: an operator rejected the batch, and every row was returned
 */
export type PayoutBatchTrigger =
  'approve' | 'review' | 'complete' | 'complete_partially' | 'stop' | 'reject';

/** The table of transitions: from each status, the status after each trigger. */
export const PAYOUT_BATCH_TRANSITIONS = {
  requested: { approve: 'processing', review: 'under_review', stop: 'stopped', reject: 'rejected' },
  under_review: { approve: 'processing', stop: 'stopped', reject: 'rejected' },
  processing: {
    complete: 'completed',
    complete_partially: 'partially_completed',
    stop: 'stopped',
  },
  completed: {},
  partially_completed: {},
  stopped: {},
  rejected: {},
} as const satisfies Record<
  PayoutBatchStatus,
  Partial<Record<PayoutBatchTrigger, PayoutBatchStatus>>
>;

const TABLE: Record<
  PayoutBatchStatus,
  Partial<Record<PayoutBatchTrigger, PayoutBatchStatus>>
> = PAYOUT_BATCH_TRANSITIONS;

/** The status that `trigger` leads to; undefined if the transition is not allowed. */
export function nextPayoutBatchStatus(
  from: PayoutBatchStatus,
  trigger: PayoutBatchTrigger,
): PayoutBatchStatus | undefined {
  return TABLE[from][trigger];
}

/** The statuses in which `trigger` is allowed. */
export function payoutBatchStatusesBefore(trigger: PayoutBatchTrigger): PayoutBatchStatus[] {
  return PAYOUT_BATCH_STATUSES.filter((status) => TABLE[status][trigger] !== undefined);
}

/** Whether rows can be left out of the batch: nobody has approved it or ended it early. */
export function mayLeaveOutRows({ status, ending }: Pick<PayoutBatch, 'status' | 'ending'>) {
  return ending === null && nextPayoutBatchStatus(status, 'approve') !== undefined;
}

/** Whether a batch with this status is closed. */
export function isFinalPayoutBatch(status: PayoutBatchStatus): boolean {
  return Object.keys(TABLE[status]).length === 0;
}

/** How somebody has ended the batch early; rows that were not released are then returned. */
export type PayoutBatchEnding = Extract<PayoutBatchTrigger, 'stop' | 'reject'>;

/** The money of the rows in each state, for each currency. */
export interface PayoutBatchTotals {
  currency: string;
  rows: number;
  amount: Amount;
  serviceFee: Amount;
  networkFee: Amount;
  totalDebit: Amount;
}

/** The sums of rows, by currency, in the order of the first row of each. */
export function totalsOf(rows: readonly Payout[]): PayoutBatchTotals[] {
  const totals = new Map<string, PayoutBatchTotals>();
  for (const row of rows) {
    const sum = totals.get(row.currency);
    totals.set(row.currency, {
      currency: row.currency,
      rows: (sum?.rows ?? 0) + 1,
      amount: add(sum?.amount ?? ZERO, row.amount),
      serviceFee: add(sum?.serviceFee ?? ZERO, row.serviceFee),
      networkFee: add(sum?.networkFee ?? ZERO, row.networkFee),
      totalDebit: add(sum?.totalDebit ?? ZERO, row.totalDebit),
    });
  }
  return [...totals.values()];
}

/** The number of rows in each state. */
export interface PayoutBatchProgress {
  /** Rows that are reserved, and not yet released to the provider. */
  waiting: number;
  /** Rows that are released, and not yet final. */
  processing: number;
  sent: number;
  failed: number;
  /** Rows that were returned without having been submitted. */
  returned: number;
  /** Rows that were left out of the batch before its approval, and returned. */
  leftOut: number;
}

/**
 * - `other_manifest`: the batch has other rows than those that the operator saw.
 * - `none_left`: no row would remain.
 * - `awaits_second_person`: another person of the merchant must approve these rows first.
 * - `rows_changed`: somebody changed the rows in the database, and the batch was stopped.
 */
export type PayoutBatchDecisionOutcome =
  | Exclude<DecisionOutcome, 'blocked'>
  | 'other_manifest'
  | 'none_left'
  | 'rows_changed'
  | 'awaits_second_person';

/** A batch as stored. */
export interface PayoutBatch extends Owner {
  id: string;
  reference: string;
  status: PayoutBatchStatus;
  description: string | null;
  /** The number of all rows, also of those that were left out. */
  rowCount: number;
  /** The numbers of the rows that were left out before the approval. */
  leftOutRows: number[];
  /** The sums of the rows that were not left out. */
  totals: PayoutBatchTotals[];
  /** SHA-256 of the manifest, the rows without those that were left out, as hexadecimal text. */
  manifestSha256: string;
  apiKeyId: string;
  /** The review rules that apply to the batch or to a row; empty if no review is required. */
  reviewReasons: ReviewReason[];
  /** The person who made it on the dashboard, when another one has to approve it; null if nobody has to. */
  secondPerson: string | null;
  secondPersonUntil: Date | null;
  /** Whether that approval is missing. */
  awaitsSecondPerson: boolean;
  approvedBy: string | null;
  approvedAt: Date | null;
  ending: PayoutBatchEnding | null;
  endedBy: string | null;
  endingReason: string | null;
  endingAt: Date | null;
  /** The time when the last row ended. */
  closedAt: Date | null;
  /** The number of rows in each state, once the batch is closed. */
  closedProgress: PayoutBatchProgress | null;
  /** Number of status changes, starting at 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The most rows of a batch. */
export const BATCH_ROWS_MAX = 10_000;

/** The most rows that one request leaves out: its transaction locks the balance to its end. */
export const LEFT_OUT_AT_ONCE_MAX = 100;

/** A batch request after validation. */
export interface PayoutBatchRequest {
  reference: string;
  description: string | null;
  payouts: PayoutOrder[];
}

/** The times between two looks of a batch's workflow at its rows, in milliseconds. */
export const BATCH_PACE_MS = { least: 500, soon: 10_000, waiting: 60_000, most: 300_000 };

/**
 * The time until the next look. While nothing changes, as with rows that wait for confirmations, it grows with
 * the time that has passed, so a batch that stays open for days is looked at every few minutes.
 */
export function nextBatchPaceMs(paceMs: number, isSame: boolean, isWaiting: boolean): number {
  const { least, soon, waiting, most } = BATCH_PACE_MS;
  if (!isSame) return least;
  const grown = paceMs < soon ? Math.min(paceMs * 2, soon) : paceMs * 1.25;
  return Math.min(Math.round(grown), isWaiting ? waiting : most);
}
