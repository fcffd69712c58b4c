import {
  isFinalPayout,
  nextPayoutStatus,
  PAYOUT_STATUSES,
  type PayoutStatus,
  payoutStatusesBefore,
  type PayoutTrigger,
} from '../../../src/domain/payout';
import { payoutEvent } from '../../../src/domain/events';

/**
 * Written down from the specification and decisions/payouts#payout-approval and decisions/payouts#payout-statuses, not from
 * the code.
 */
const EDGES: [PayoutStatus, PayoutTrigger, PayoutStatus][] = [
  ['requested', 'approve', 'approved'],
  ['requested', 'release', 'approved'],
  ['requested', 'review', 'under_review'],
  ['requested', 'expire', 'cancelled'],
  ['requested', 'invalidate', 'failed'],
  ['requested', 'reject', 'rejected'],
  ['requested', 'cancel', 'cancelled'],
  ['under_review', 'approve', 'approved'],
  ['under_review', 'clear', 'requested'],
  ['under_review', 'expire', 'cancelled'],
  ['under_review', 'invalidate', 'failed'],
  ['under_review', 'reject', 'rejected'],
  ['under_review', 'cancel', 'cancelled'],
  ['approved', 'accept', 'processing'],
  ['approved', 'refuse', 'failed'],
  ['approved', 'reject', 'rejected'],
  ['processing', 'complete', 'completed'],
  ['processing', 'fail', 'failed'],
];
const TRIGGERS: PayoutTrigger[] = [
  'approve',
  'clear',
  'review',
  'release',
  'reject',
  'cancel',
  'expire',
  'invalidate',
  'accept',
  'refuse',
  'complete',
  'fail',
];
const PAIRS = PAYOUT_STATUSES.flatMap((from) =>
  TRIGGERS.map((trigger) => {
    const edge = EDGES.find(([state, by]) => state === from && by === trigger);
    return [from, trigger, edge?.[2]] as const;
  }),
);

test.each(PAIRS)('%s, %s: %s', (from, trigger, to) => {
  expect(nextPayoutStatus(from, trigger)).toBe(to);
});

test.each<[PayoutTrigger, PayoutStatus[]]>([
  ['approve', ['requested', 'under_review']],
  ['reject', ['requested', 'under_review', 'approved']],
  ['cancel', ['requested', 'under_review']],
  ['clear', ['under_review']],
  ['release', ['requested']],
  ['review', ['requested']],
  ['expire', ['requested', 'under_review']],
  ['invalidate', ['requested', 'under_review']],
  ['accept', ['approved']],
  ['refuse', ['approved']],
  ['complete', ['processing']],
  ['fail', ['processing']],
])('%s is possible from %j alone', (trigger, before) => {
  expect(payoutStatusesBefore(trigger)).toEqual(before);
});

test('four states are final, and nothing leads out of them', () => {
  const final = PAYOUT_STATUSES.filter(isFinalPayout);
  expect(final).toEqual(['completed', 'rejected', 'failed', 'cancelled']);
  const after = final.flatMap((from) => TRIGGERS.map((trigger) => nextPayoutStatus(from, trigger)));
  expect(after.filter((status) => status !== undefined)).toEqual([]);
});

test('each state is reached, and all but under_review have an event of their own', () => {
  const reached = new Set(
    PAIRS.flatMap(([from, trigger]) => nextPayoutStatus(from, trigger) ?? []),
  );
  expect([...reached].sort()).toEqual([...PAYOUT_STATUSES].sort());
  for (const status of reached) {
    expect(payoutEvent(status)).toBe(`payout.${status === 'under_review' ? 'requested' : status}`);
  }
});
