/** The delay before automatic approval starts when the row is created (decisions/payouts#payout-approval). */
import { reportPayout } from '../../../activities/payout/transition';
import type { Payout } from '../../../src/domain/payout';

const CREATED = new Date('2026-03-02T12:00:00Z');

function leftAfter(ms: number, payout: Pick<Payout, 'status' | 'mode'>): number | null {
  const row: Partial<Payout> = { ...payout, createdAt: CREATED };
  return reportPayout(row as Payout, new Date(CREATED.getTime() + ms)).autoApproveInMs;
}

test.each<[mode: Payout['mode'], ageMs: number, leftMs: number]>([
  ['live', 0, 10_000],
  ['live', 4_000, 6_000],
  ['live', 3_600_000, 0],
  ['test', 0, 2_000],
  ['test', 1_999, 1],
])('a requested payout in %s mode, %i ms old, is approved in %i ms', (mode, ageMs, leftMs) => {
  expect(leftAfter(ageMs, { status: 'requested', mode })).toBe(leftMs);
});

test.each(['under_review', 'approved', 'processing', 'completed'] as const)(
  'a payout that is %s is not approved automatically',
  (status) => expect(leftAfter(0, { status, mode: 'live' })).toBeNull(),
);
