import { exceededLimit, type LimitFacts } from '../../../src/domain/limits';
import { amount } from '../../../src/domain/money';

const RESETS_AT = '2026-11-02T10:00:00.000Z';

test.each([
  // per payout, per day, used today, asked for → the limit that says no
  ['50000', '200000', '0', '50000', null],
  ['50000', '200000', '0', '50000.00000001', 'per_transaction'],
  ['50000', '200000', '150000', '50000', null],
  ['50000', '200000', '150000.00000001', '50000', 'daily'],
  ['50000', '200000', '200000', '0.00000001', 'daily'],
  ['50000', '200000', '200000', '60000', 'per_transaction'],
  [null, '200000', '0', '200000', null],
  [null, '200000', '0', '200000.00000001', 'daily'],
  ['50000', null, '999999999', '50000', null],
  [null, null, '999999999', '999999999', null],
  ['0', null, '0', '0.00000001', 'per_transaction'],
])('at most %s each and %s a day, with %s used: %s → %s', (each, daily, used, asked, limit) => {
  const refusal = exceededLimit(buildFacts(each, daily, used, asked));
  expect(refusal?.details.limit ?? null).toBe(limit);
});

test('a refusal says by how much and until when', () => {
  expect(exceededLimit(buildFacts('50', '200', '180', '30'))).toEqual({
    code: 'limit_exceeded',
    details: {
      limit: 'daily',
      currency: 'USDT',
      maximum: '200.00000000',
      used: '180.00000000',
      requested: '30.00000000',
      resets_at: RESETS_AT,
    },
  });
  // Waiting does not help against the limit of one payout.
  expect(exceededLimit(buildFacts('20', '200', '180', '30'))?.details).toMatchObject({
    limit: 'per_transaction',
    maximum: '20.00000000',
    resets_at: null,
  });
});

function buildFacts(
  each: string | null,
  daily: string | null,
  used: string,
  asked: string,
): LimitFacts {
  return {
    of: 'account',
    currency: 'USDT',
    amount: amount(asked),
    perTransactionMax: each === null ? null : amount(each),
    dailyMax: daily === null ? null : amount(daily),
    usedToday: amount(used),
    resetsAt: RESETS_AT,
  };
}
