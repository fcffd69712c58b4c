import { PAYOUT_STATUSES, type PayoutStatus } from '../../../src/domain/payout';
import {
  attentionLevel,
  contradiction,
  nextAttemptMs,
  nextCheckMs,
  nextPaymentCheckMs,
} from '../../../src/domain/provider-checks';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test.each([
  [0, 2 * SECOND],
  [SECOND, 2 * SECOND],
  [2 * SECOND, 2 * SECOND],
  [30 * SECOND, 30 * SECOND],
  [15 * MINUTE, 15 * MINUTE],
  [24 * HOUR, 15 * MINUTE],
])('after %i ms the next check comes in %i ms', (waited, next) => {
  expect(nextCheckMs(waited)).toBe(next);
});

test.each([
  [0, 2 * SECOND],
  [30 * SECOND, 30 * SECOND],
  [5 * MINUTE, MINUTE],
  [20 * MINUTE, 2 * MINUTE],
  [24 * HOUR, 15 * MINUTE],
])('a provider that has not answered for %i ms is asked again in %i ms', (waited, next) => {
  expect(nextAttemptMs(waited)).toBe(next);
});

test('a provider that does not answer for a day is asked about 150 times', () => {
  let [waited, attempts] = [0, 0];
  for (; waited < 24 * HOUR; attempts++) waited += nextAttemptMs(waited);
  expect(attempts).toBeGreaterThan(120);
  expect(attempts).toBeLessThan(170);
});

test('a day of waiting costs about a hundred checks', () => {
  let [waited, checks] = [0, 0];
  for (; waited < 24 * HOUR; checks++) waited += nextCheckMs(waited);
  expect(checks).toBeGreaterThan(96);
  expect(checks).toBeLessThan(120);
});

test.each([
  ['at first', 0, 0, 10 * SECOND],
  ['as long again as it is old', 5 * MINUTE, 5 * MINUTE, 5 * MINUTE],
  ['at the end of the window', 55 * MINUTE, 55 * MINUTE, 5 * MINUTE + 1],
  ['at once when the window closed while the provider was asked', HOUR - 1, HOUR + 70, 1],
  ['at once when it was asked in the last moment', HOUR - 1, HOUR - 1, 2],
  ['seldom when the end was seen and money is still on its way', HOUR, HOUR + 70, 15 * MINUTE],
])('a payment with an hour’s window is looked at next %s', (_when, asked, now, next) => {
  const at = (ms: number) => new Date(1_700_000_000_000 + ms);
  const payment = { createdAt: at(0), expiresAt: at(HOUR) };
  expect(nextPaymentCheckMs(payment, at(asked), at(now))).toBe(next);
});

test.each([
  [0, 0],
  [15 * MINUTE - 1, 0],
  [15 * MINUTE, 1],
  [2 * HOUR - 1, 1],
  [2 * HOUR, 2],
  [24 * HOUR - 1, 2],
  [24 * HOUR, 3],
  [240 * HOUR, 3],
])('after %i ms attention is at level %i', (waited, level) => {
  expect(attentionLevel(waited)).toBe(level);
});

const TRANSFERS = ['pending', 'sent', 'failed', 'not_found'] as const;
const RETURNED: PayoutStatus[] = ['rejected', 'failed', 'cancelled'];

function expectedContradiction(payout: PayoutStatus, transfer: string): string | null {
  if (payout === 'completed' && transfer !== 'sent') return 'completed_but_not_sent';
  if (RETURNED.includes(payout) && transfer === 'sent') return 'sent_after_return_of_funds';
  if (RETURNED.includes(payout) && transfer === 'pending') return 'pending_after_return_of_funds';
  return null;
}

test.each(
  PAYOUT_STATUSES.flatMap((payout) => TRANSFERS.map((transfer) => [payout, transfer] as const)),
)(
  'our %s and the provider’s %s: a contradiction only if the money contradicts the status',
  (payout, transfer) => {
    expect(contradiction(payout, transfer)).toBe(expectedContradiction(payout, transfer));
  },
);
