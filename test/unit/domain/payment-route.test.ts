import { amount } from '../../../src/domain/money';
import type { PaymentRequest } from '../../../src/domain/payment';
import { choosePaymentRoute, type CurrencyRoute } from '../../../src/domain/route';
import type { ProviderCode } from '../../../src/domain/provider-codes';

const ONCHAIN = 'onchain_provider';
const EXCHANGE = 'exchange_pay';
const BOTH = [ONCHAIN, EXCHANGE];

function route(provider: ProviderCode, network: string, max: string | null = null): CurrencyRoute {
  const maxAmount = max === null ? null : amount(max);
  return { provider, currency: 'USDT', network, minAmount: amount('1'), maxAmount };
}

const ETHEREUM = route(ONCHAIN, 'ethereum', '1000');
const TRON = route(ONCHAIN, 'tron');
const INTERNAL = route(EXCHANGE, 'internal', '500');
const ALL = [ETHEREUM, TRON, INTERNAL];

type Wish = Partial<Pick<PaymentRequest, 'provider' | 'network'>> & { amount?: string };

function choose(wish: Wish, routes: readonly CurrencyRoute[], providers: readonly string[]) {
  const request: PaymentRequest = {
    amount: amount(wish.amount ?? '10'),
    currency: 'USDT',
    reference: 'order-1',
    description: null,
    customerEmail: null,
    successUrl: null,
    cancelUrl: null,
    provider: wish.provider ?? null,
    network: wish.network ?? null,
    metadata: {},
    expiresInSeconds: 3_600,
  };
  return choosePaymentRoute(request, routes, providers);
}

test.each<[string, Wish, CurrencyRoute[], string[], string, string | null]>([
  ['the default network is an explicit order, not the alphabet', {}, ALL, BOTH, ONCHAIN, 'tron'],
  ['base before tron', {}, [...ALL, route(ONCHAIN, 'base')], BOTH, ONCHAIN, 'base'],
  [
    'a network without a place in the order',
    {},
    [route(ONCHAIN, 'aaa'), ETHEREUM],
    BOTH,
    ONCHAIN,
    'ethereum',
  ],
  ['the catalogue in another order', {}, [INTERNAL, TRON], BOTH, ONCHAIN, 'tron'],
  ['the network asked for', { network: 'tron' }, ALL, BOTH, ONCHAIN, 'tron'],
  ['the provider asked for', { provider: EXCHANGE }, ALL, BOTH, EXCHANGE, null],
  ['the only provider with the network', { network: 'internal' }, ALL, BOTH, EXCHANGE, null],
  ['both asked for', { provider: ONCHAIN, network: 'tron' }, ALL, BOTH, ONCHAIN, 'tron'],
  ['the default is not enabled', {}, ALL, [EXCHANGE], EXCHANGE, null],
  ['the default does not take the currency', {}, [INTERNAL], BOTH, EXCHANGE, null],
  ['the other default', {}, ALL, [EXCHANGE, ONCHAIN], EXCHANGE, null],
  ['exactly the least', { amount: '1' }, ALL, BOTH, ONCHAIN, 'tron'],
  ['exactly the greatest', { amount: '1000' }, [ETHEREUM], BOTH, ONCHAIN, 'ethereum'],
  ['no greatest', { amount: '1000000', network: 'tron' }, ALL, BOTH, ONCHAIN, 'tron'],
])('%s', (_what, wish, routes, enabled, provider, network) => {
  expect(choose(wish, routes, enabled)).toEqual({ route: { provider, network } });
});

test.each<[string, Wish, CurrencyRoute[], string[], string, string, string]>([
  ['no route at all', {}, [], BOTH, 'currency', 'unsupported', 'is not supported for payments'],
  ['no enabled provider', {}, ALL, [], 'currency', 'unsupported', 'is not supported for payments'],
  [
    'only a disabled one',
    {},
    [INTERNAL],
    [ONCHAIN],
    'currency',
    'unsupported',
    'is not supported for payments',
  ],
  [
    'a provider that does not take it',
    { provider: EXCHANGE },
    [TRON],
    BOTH,
    'provider',
    'unsupported',
    'does not support USDT',
  ],
  [
    'a provider that is not enabled',
    { provider: EXCHANGE },
    ALL,
    [ONCHAIN],
    'provider',
    'unsupported',
    'does not support USDT',
  ],
  [
    'an unknown network',
    { network: 'bitcoin' },
    ALL,
    BOTH,
    'network',
    'unsupported',
    'ethereum, tron, internal',
  ],
  [
    'a network of the other provider',
    { provider: EXCHANGE, network: 'tron' },
    ALL,
    BOTH,
    'network',
    'unsupported',
    'one of: internal.',
  ],
  ['too little', { amount: '0.99999999' }, ALL, BOTH, 'amount', 'min_amount', '1.00000000 USDT'],
  [
    'too much for the network that is chosen',
    { amount: '1000.00000001', network: 'ethereum' },
    ALL,
    BOTH,
    'amount',
    'max_amount',
    '1000.00000000 USDT',
  ],
])('%s is refused', (_what, wish, routes, enabled, field, rule, saying) => {
  expect(choose(wish, routes, enabled)).toEqual({
    refusal: {
      code: 'validation_failed',
      details: { fields: [{ field, rule, message: expect.stringContaining(saying) }] },
    },
  });
});
