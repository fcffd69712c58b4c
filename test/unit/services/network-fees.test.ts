/** Estimates are cached for 30 seconds and used for 10 minutes if the provider does not answer. */
import { amount, ZERO } from '../../../src/domain/money';
import type {
  FeeEstimate,
  Provider,
  ProviderCapabilities,
} from '../../../src/adapters/providers/port';
import { checkDecimals, createNetworkFees } from '../../../src/kit/service/network-fees';

const ROUTE = { provider: 'onchain_provider', network: 'tron' } as const;
const ONE: FeeEstimate = { kind: 'estimate', fee: amount('1'), decimals: 6 };
const TWO: FeeEstimate = { kind: 'estimate', fee: amount('2'), decimals: null };
const UNKNOWN: FeeEstimate = { kind: 'unknown', reason: 'no answer' };

let answer: FeeEstimate;
const estimateNetworkFee = jest.fn(() => Promise.resolve(answer));

const CAPABILITIES: ProviderCapabilities = {
  pay_in: true,
  pay_out: true,
  destination_types: ['crypto_address'],
  network_required: true,
  memo_supported: true,
  network_fee_estimate: true,
  tx_hash: true,
  refunds: true,
  refund_destination_types: [],
  partial_payments: true,
  checkout_ttl_seconds: null,
};

function startFees(publishesEstimates = true) {
  const capabilities = { ...CAPABILITIES, network_fee_estimate: publishesEstimates };
  const provider: Partial<Provider> = {
    code: 'onchain_provider',
    capabilities,
    estimateNetworkFee,
  };
  return createNetworkFees({
    get: jest.fn(),
    list: () => [provider as Provider],
    close: () => Promise.resolve(),
  });
}

/** Milliseconds of the monotonic clock; the wall clock stays where it is. */
function setTime(ms: number): void {
  jest.spyOn(performance, 'now').mockReturnValue(ms);
}

beforeEach(() => {
  setTime(0);
  estimateNetworkFee.mockClear();
  answer = ONE;
});
afterEach(() => jest.restoreAllMocks());

test('a burst of payouts makes one request, and the next comes after 30 seconds', async () => {
  const fees = startFees();
  const ask = () => fees.estimate('live', ROUTE, 'USDT');
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill(amount('1')));
  answer = TWO;
  setTime(29_999);
  expect(await ask()).toBe(amount('1'));
  expect(estimateNetworkFee).toHaveBeenCalledTimes(1);
  setTime(30_000);
  expect(await ask()).toBe(amount('2'));
  expect(estimateNetworkFee).toHaveBeenCalledTimes(2);
});

test('an old estimate is used for 10 minutes if the provider does not answer, no longer', async () => {
  const fees = startFees();
  const ask = () => fees.estimate('live', ROUTE, 'USDT');
  expect(await ask()).toBe(amount('1'));
  answer = UNKNOWN;
  setTime(10 * 60_000 - 1);
  expect(await ask()).toBe(amount('1'));
  setTime(10 * 60_000);
  expect(await ask()).toBeNull();
});

test('in an outage an estimate at hand is used at once, and a late answer replaces it', async () => {
  const fees = startFees();
  const ask = () => fees.estimate('live', ROUTE, 'USDT');
  expect(await ask()).toBe(amount('1'));
  setTime(5 * 60_000);
  let tell: (answer: FeeEstimate) => void = () => undefined;
  estimateNetworkFee.mockReturnValueOnce(new Promise((resolve) => (tell = resolve)));
  expect(await Promise.all([ask(), ask()])).toEqual([amount('1'), amount('1')]);
  expect(await ask()).toBe(amount('1'));
  expect(estimateNetworkFee).toHaveBeenCalledTimes(2);
  tell(TWO);
  await new Promise(setImmediate);
  expect(await ask()).toBe(amount('2'));
});

test('modes, currencies and networks do not share an estimate', async () => {
  const fees = startFees();
  await fees.estimate('live', ROUTE, 'USDT');
  await fees.estimate('test', ROUTE, 'USDT');
  await fees.estimate('live', ROUTE, 'USDC');
  await fees.estimate('live', { ...ROUTE, network: 'ethereum' }, 'USDT');
  expect(estimateNetworkFee).toHaveBeenCalledTimes(4);
});

test('without a network, or from a provider that publishes no estimate, the fee is zero', async () => {
  expect(await startFees().estimate('live', { ...ROUTE, network: null }, 'USDT')).toBe(ZERO);
  expect(await startFees(false).estimate('live', ROUTE, 'USDT')).toBe(ZERO);
  expect(estimateNetworkFee).not.toHaveBeenCalled();
});

describe('the decimals of a currency on a network', () => {
  const place = { mode: 'live', ...ROUTE, currency: 'USDT' } as const;

  test('come with the estimate and are remembered when the provider no longer answers', async () => {
    const fees = startFees();
    expect(await fees.decimals(place)).toBe(6);
    answer = UNKNOWN;
    setTime(24 * 3_600_000);
    expect(await fees.decimals(place)).toBe(6);
    expect(estimateNetworkFee).toHaveBeenCalledTimes(1);
  });

  test('are not known where the provider does not state them, or does not answer', async () => {
    answer = TWO;
    expect(await startFees().decimals(place)).toBeNull();
    answer = UNKNOWN;
    expect(await startFees().decimals(place)).toBeNull();
    expect(await startFees(false).decimals(place)).toBeNull();
    expect(await startFees().decimals({ ...place, network: null })).toBeNull();
  });

  test('refuse an amount that has more of them, whose zeros at the end do not count', async () => {
    const check = (text: string) => checkDecimals(startFees(), { ...place, amount: amount(text) });
    await check('25.0000010');
    await expect(check('25.0000001')).rejects.toMatchObject({
      status: 422,
      details: {
        fields: [
          {
            field: 'amount',
            rule: 'format',
            message: 'USDT has 6 decimals on tron. Send an amount with at most 6 decimals.',
          },
        ],
      },
    });
  });
});
