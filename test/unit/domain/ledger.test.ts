import fc from 'fast-check';
import { totalDebit } from '../../../src/domain/fees';
import {
  adjustmentPosting,
  creditPosting,
  isBalanced,
  merchantEntries,
  type PayoutMoney,
  type Posting,
  refundPosting,
  refundReturnPosting,
  returnPosting,
  reservePosting,
  settlementPosting,
} from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import { anyUnits, fromUnits, toUnits } from '../../support/amounts';
import { scaled } from '../../support/scale';

const RUNS = { numRuns: scaled(100, 10_000) };
const MOST = { max: 10n ** 26n - 1n };

function buildPayout(amountUnits: bigint, serviceFee = 0n, networkFee = 0n): PayoutMoney {
  const parts = [fromUnits(amountUnits), fromUnits(serviceFee), fromUnits(networkFee)] as const;
  return {
    id: 'po_1',
    reference: 'order-1',
    amount: parts[0],
    serviceFee: parts[1],
    networkFee: parts[2],
    totalDebit: totalDebit(...parts),
  };
}

const anyPayout = fc
  .tuple(anyUnits({ min: 1n, ...MOST }), anyUnits(MOST), anyUnits(MOST))
  .map((parts) => buildPayout(...parts));

/** What a posting does to a account, in smallest units. */
function moved(posting: Posting, account: string): bigint {
  return posting.lines
    .filter((line) => line.account === account)
    .reduce((sum, line) => sum + toUnits(line.amount) * (line.direction === 'in' ? 1n : -1n), 0n);
}

function expectSound(posting: Posting): void {
  expect(isBalanced(posting)).toBe(true);
  expect(
    posting.lines.reduce(
      (sum, line) => sum + moved({ ...posting, lines: [line] }, line.account),
      0n,
    ),
  ).toBe(0n);
  for (const line of posting.lines) expect(toUnits(line.amount)).toBeGreaterThan(0n);
}

test('every posting of any payout is balanced, and its lines all move something', () => {
  fc.assert(
    fc.property(anyPayout, (payout) => {
      for (const posting of [reservePosting, returnPosting, settlementPosting]) {
        expectSound(posting(payout));
      }
    }),
    RUNS,
  );
});

test('a release undoes the reserve; a settlement takes what was reserved and nothing else', () => {
  fc.assert(
    fc.property(anyPayout, (payout) => {
      const total = toUnits(payout.totalDebit);
      const [reserve, release] = [reservePosting(payout), returnPosting(payout)];
      expect(moved(reserve, 'available')).toBe(-total);
      expect(moved(reserve, 'reserved')).toBe(total);
      expect(moved(release, 'available')).toBe(total);
      expect(moved(release, 'reserved')).toBe(-total);
      const settlement = settlementPosting(payout);
      expect(moved(settlement, 'available')).toBe(0n);
      expect(moved(settlement, 'reserved')).toBe(-total);
      expect(moved(settlement, 'provider_clearing')).toBe(toUnits(payout.amount));
      expect(moved(settlement, 'fee_income')).toBe(toUnits(payout.serviceFee));
      expect(moved(settlement, 'network_cost')).toBe(toUnits(payout.networkFee));
    }),
    RUNS,
  );
});

test('settle and release share one operation key, the reserve has its own', () => {
  const payout = buildPayout(1n);
  expect(settlementPosting(payout).operationKey).toBe('po_1:final');
  expect(returnPosting(payout).operationKey).toBe('po_1:final');
  expect(reservePosting(payout).operationKey).toBe('po_1:reserve');
});

test('a fee of nothing makes no line', () => {
  const accounts = settlementPosting(buildPayout(5n)).lines.map((line) => line.account);
  expect(accounts).toEqual(['reserved', 'provider_clearing']);
});

test.each(['in', 'out'] as const)(
  'an adjustment %s is balanced against its own account',
  (direction) => {
    fc.assert(
      fc.property(anyUnits({ min: 1n }), (units) => {
        const adjustment = { id: 'adj_1', direction, amount: fromUnits(units), reason: 'A test' };
        const posting = adjustmentPosting(adjustment);
        expectSound(posting);
        expect(moved(posting, 'available')).toBe(direction === 'in' ? units : -units);
      }),
      RUNS,
    );
  },
);

test('a posting that does not balance is told apart, down to the smallest unit', () => {
  const posting = reservePosting(buildPayout(5n));
  const [first, second] = posting.lines;
  const lines = [first!, { ...second!, amount: amount('0.00000006') }];
  expect(isBalanced({ ...posting, lines })).toBe(false);
});

const PAYMENT = { id: 'pay_1', reference: 'order-1' };
const CREDIT = { id: 't', amount: amount('10'), fee: amount('0.1') };
const FEE_ONLY = { reference: 'r', taken: amount('0'), fee: amount('0.1') };

/** With the sign of each entry. */
test.each<[what: string, posting: Posting, parts: string[]]>([
  [
    'a reserve',
    reservePosting(buildPayout(100n, 5n, 7n)),
    ['-amount_and_fees', '+amount_and_fees'],
  ],
  ['a release', returnPosting(buildPayout(100n, 5n, 7n)), ['-amount_and_fees', '+amount_and_fees']],
  [
    'a settlement',
    settlementPosting(buildPayout(100n, 5n, 7n)),
    ['-amount', '-service_fee', '-network_fee'],
  ],
  [
    'a settlement of equal parts',
    settlementPosting(buildPayout(5n, 5n, 5n)),
    ['-amount', '-service_fee', '-network_fee'],
  ],
  [
    'a settlement without a service fee',
    settlementPosting(buildPayout(100n, 0n, 7n)),
    ['-amount', '-network_fee'],
  ],
  ['a payment', creditPosting(PAYMENT, CREDIT), ['+amount', '-service_fee']],
  [
    'a refund',
    refundPosting(PAYMENT, { reference: 'r', taken: amount('9.9'), fee: amount('0.1') }),
    ['-amount'],
  ],
  ['a refund of a fee', refundPosting(PAYMENT, FEE_ONLY), ['+service_fee', '-amount']],
  ['its return', refundReturnPosting(PAYMENT, FEE_ONLY), ['+amount', '-service_fee']],
  [
    'an adjustment',
    adjustmentPosting({ id: 'a', direction: 'in', amount: amount('1'), reason: 'r' }),
    ['+amount'],
  ],
])('the merchant reads what each entry of %s is', (_what, posting, parts) => {
  const stored = posting.lines.map((line) => ({
    ...line,
    balanceAfter: ['available', 'reserved'].includes(line.account) ? amount('1') : null,
  }));
  const entries = merchantEntries(stored);
  expect(entries.map(({ direction, part }) => (direction === 'in' ? '+' : '-') + part)).toEqual(
    parts,
  );
});
