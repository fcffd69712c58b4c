/** The rows of a batch add up: many small rows pass no limit that one payout of their sum would not. */
import {
  type BatchFacts,
  batchTerms,
  type RoutedRow,
  rowsRefused,
} from '../../../src/domain/batch-terms';
import { REFUSED_ROWS_SHOWN } from '../../../src/domain/errors';
import type { Mode } from '../../../src/domain/mode';
import { amount } from '../../../src/domain/money';
import type { PayoutFacts } from '../../../src/domain/terms';
import { FREE_FACTS } from './payout-facts';

interface Asked {
  amount: string;
  currency?: string;
  network?: string;
  reference?: string;
  isKnownRecipient?: boolean;
}

/** Facts of each currency; those of every currency are under `all`. */
type Facts = Partial<Record<'all' | 'USDT' | 'USDC' | 'BTC', Partial<PayoutFacts>>>;

function rowsOf(asked: readonly Asked[]): RoutedRow[] {
  return asked.map((one, index) => ({
    row: index + 1,
    request: {
      amount: amount(one.amount),
      currency: one.currency ?? 'USDT',
      reference: one.reference ?? `row-${index + 1}`,
      destination: { type: 'crypto_address', value: `address-${index + 1}`, memo: null },
      network: null,
      provider: null,
      description: null,
      metadata: {},
    },
    isKnownRecipient: one.isKnownRecipient ?? false,
    route: {
      provider: 'onchain_provider',
      network: one.network ?? 'tron',
      networkFee: amount('1'),
    },
  }));
}

function judge(
  asked: readonly Asked[],
  facts: Facts = {},
  { mode = 'live', others = {} }: { mode?: Mode; others?: Partial<BatchFacts> } = {},
) {
  return batchTerms(mode, rowsOf(asked), {
    groupOf: ({ request }) => ({
      ...FREE_FACTS,
      ...facts.all,
      ...facts[request.currency as keyof Facts],
    }),
    existingIdOf: () => null,
    isUsedDestination: () => true,
    ...others,
  });
}

const each = (...amounts: string[]): Asked[] => amounts.map((one) => ({ amount: one }));

const refusals = (...judged: Parameters<typeof judge>) =>
  judge(...judged).faults.map(({ row, refusal }) => [row, refusal.code]);

const reasons = (...judged: Parameters<typeof judge>) =>
  judge(...judged).rows.map((terms) => terms?.reviewReasons);

describe('the totals', () => {
  it('are those of the rows, by currency in the order of the first row of each', () => {
    const { totals, rows } = judge([
      { amount: '100' },
      { amount: '7', currency: 'USDC' },
      { amount: '50' },
    ]);
    expect(totals).toEqual([
      {
        currency: 'USDT',
        rows: 2,
        amount: amount('150'),
        serviceFee: amount('1.5'),
        networkFee: amount('2'),
        totalDebit: amount('153.5'),
      },
      {
        currency: 'USDC',
        rows: 1,
        amount: amount('7'),
        serviceFee: amount('0.07'),
        networkFee: amount('1'),
        totalDebit: amount('8.07'),
      },
    ]);
    expect(rows.map((terms) => terms?.totalDebit)).toEqual([
      amount('102'),
      amount('8.07'),
      amount('51.5'),
    ]);
  });

  it('leave out a row that is refused', () => {
    const { totals, rows } = judge(each('10', '20'), { all: { perTransactionMax: amount('15') } });
    expect(totals).toMatchObject([{ rows: 1, amount: amount('10'), totalDebit: amount('11.1') }]);
    expect(rows[1]).toBeNull();
  });

  it('are covered by the balance of their currency, to the last unit', () => {
    const asked = [{ amount: '100' }, { amount: '7', currency: 'USDC' }];
    const covered = { USDT: { available: amount('102') }, USDC: { available: amount('8.07') } };
    expect(judge(asked, covered).shortage).toBeNull();
    const short = { ...covered, USDC: { available: amount('8.06999999') } };
    expect(judge(asked, short).shortage).toEqual({
      code: 'insufficient_balance',
      details: { currency: 'USDC', available: amount('8.06999999'), required: amount('8.07') },
    });
  });
});

describe('the rows together', () => {
  const ofToday = (used: string): Partial<PayoutFacts> => ({
    dailyMax: amount('100'),
    usedToday: amount(used),
  });

  it('use up the day of the account', () => {
    expect(refusals(each('40', '40', '20'), { USDT: ofToday('0') })).toEqual([]);
    expect(refusals(each('40', '40', '20', '0.00000001'), { USDT: ofToday('0') })).toEqual([
      [4, 'limit_exceeded'],
    ]);
    const { faults } = judge(each('40', '40'), { USDT: ofToday('30') });
    expect(faults.map(({ refusal }) => refusal.details)).toEqual([
      expect.objectContaining({ limit: 'daily', used: amount('70'), requested: amount('40') }),
    ]);
  });

  it('use it up on all networks, and each currency has its own', () => {
    const onTwo = [
      { amount: '60', network: 'tron' },
      { amount: '60', network: 'ethereum' },
    ];
    expect(refusals(onTwo, { USDT: ofToday('0') })).toEqual([[2, 'limit_exceeded']]);
    const inTwo = [{ amount: '60' }, { amount: '60', currency: 'USDC' }];
    expect(refusals(inTwo, { all: ofToday('0') })).toEqual([]);
  });

  it('use up the day of the key', () => {
    const key = { ...FREE_FACTS.key, dailyMax: amount('100'), usedToday: amount('30') };
    const { faults } = judge(each('40', '40'), { USDT: { key } });
    expect(faults.map(({ row, refusal }) => [row, refusal.details])).toEqual([
      [2, expect.objectContaining({ limit: 'key_daily', used: amount('70') })],
    ]);
  });

  it('a refused row uses up nothing', () => {
    const facts = { USDT: { ...ofToday('0'), perTransactionMax: amount('90') } };
    expect(refusals(each('90.1', '90', '10'), facts)).toEqual([[1, 'limit_exceeded']]);
  });

  it('use up what is approved automatically in a day', () => {
    const facts = {
      USDT: { autoApproveDailyMax: amount('100'), autoApprovedToday: amount('30') },
    };
    expect(reasons(each('40', '30', '0.00000001'), facts)).toEqual([
      [],
      [],
      ['above_auto_approve_daily_max'],
    ]);
  });

  it('a row that a person reviews uses up nothing of that', () => {
    const facts = {
      USDT: { autoApproveDailyMax: amount('100'), autoApproveMax: amount('50') },
    };
    expect(reasons(each('60', '50', '50'), facts)).toEqual([['above_auto_approve_max'], [], []]);
  });
});

describe('two operators approve a live batch', () => {
  const four = (threshold: string) => ({ fourEyesThreshold: amount(threshold) });
  const asked = [{ amount: '60' }, { amount: '60' }, { amount: '5', currency: 'USDC' }];

  it('when the sum of one currency is above its threshold', () => {
    const { reviewReasons, rows } = judge(asked, { USDT: four('100'), USDC: four('100') });
    expect(reviewReasons).toEqual(['above_four_eyes_threshold']);
    expect(rows.map((terms) => terms?.reviewReasons)).toEqual([[], [], []]);
  });

  it('not when every sum is at its threshold, or has none', () => {
    const atMost = { USDT: four('120'), USDC: four('5') };
    expect(judge(asked, atMost).reviewReasons).toEqual([]);
    expect(judge(asked, { USDC: four('5') }).reviewReasons).toEqual([]);
  });

  it('and not a test batch', () => {
    expect(judge(asked, { all: four('1') }, { mode: 'test' }).reviewReasons).toEqual([]);
  });
});

test('another person approves a batch whose sum in one currency is above the line, and its rows alone are not asked about', () => {
  const asked = [{ amount: '60' }, { amount: '60' }, { amount: '5', currency: 'USDC' }];
  const line = (above: string) => ({ secondPersonAbove: amount(above) });
  const judged = judge(asked, { USDT: line('100'), USDC: line('100') });
  expect(judged.needsSecondPerson).toBe(true);
  expect(judged.rows.some((terms) => terms?.needsSecondPerson)).toBe(false);
  expect(judge(asked, { USDT: line('120'), USDC: line('5') }).needsSecondPerson).toBe(false);
});

test('the reasons of the rows are those of the batch, once each', () => {
  const facts = { all: { destinationUsedBefore: true, reviewAll: true } };
  expect(judge(each('1', '2'), facts).reviewReasons).toEqual(['review_all']);
});

test('a destination is known by an earlier payout or by its recipient, and by nothing else', () => {
  const asked = [{ amount: '1' }, { amount: '1', isKnownRecipient: true }, { amount: '1' }];
  const others = { isUsedDestination: ({ row }: RoutedRow) => row === 3 };
  expect(reasons(asked, {}, { others })).toEqual([['first_use_of_destination'], [], []]);
});

describe('a reference', () => {
  it('belongs to one row', () => {
    const same = [
      { amount: '1', reference: 'a' },
      { amount: '1', reference: 'b' },
      { amount: '1', reference: 'a' },
    ];
    const { faults, totals } = judge(same);
    expect(faults).toMatchObject([
      { row: 3, reference: 'a', refusal: { code: 'validation_failed' } },
    ]);
    expect(JSON.stringify(faults[0]?.refusal)).toContain('Row 1 has the same reference.');
    expect(totals).toMatchObject([{ rows: 2 }]);
  });

  it('belongs to one row although the first one is refused', () => {
    const same = [
      { amount: '20', reference: 'a' },
      { amount: '1', reference: 'a' },
    ];
    expect(refusals(same, { all: { perTransactionMax: amount('10') } })).toEqual([
      [1, 'limit_exceeded'],
      [2, 'validation_failed'],
    ]);
  });

  it('of a payout that exists refuses its row', () => {
    const others = { existingIdOf: (reference: string) => (reference === 'row-2' ? 'po_1' : null) };
    expect(refusals(each('1', '1'), {}, { others })).toEqual([[2, 'duplicate_reference']]);
  });
});

test('a refusal counts all refused rows, and shows the first of them', () => {
  const many = each(...Array<string>(REFUSED_ROWS_SHOWN + 2).fill('20'));
  const { faults } = judge(many, { all: { perTransactionMax: amount('10') } });
  const { details } = rowsRefused(faults);
  expect(details.refused).toBe(REFUSED_ROWS_SHOWN + 2);
  expect(details.rows).toHaveLength(REFUSED_ROWS_SHOWN);
  expect(details.rows[0]).toMatchObject({ row: 1, reference: 'row-1', code: 'limit_exceeded' });
});
