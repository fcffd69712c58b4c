/** The file of networks: what it means, and errors that name the field and no secret. */
import { readNetworks } from '../../../src/rails/wallet/networks';
import { amountOf, unitsOf } from '../../../src/rails/wallet/units';
import { amount } from '../../../src/domain/money';

const USDC = { asset: 'USDC', address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 };
const ETHEREUM = {
  mode: 'live',
  name: 'ethereum',
  chain_id: 1,
  rpc_urls: ['https://one.example/secret-key', 'https://two.example/secret-key'],
  native: { asset: 'ETH' },
  tokens: [USDC],
  payouts: {
    signer: { kind: 'keystore', file: 'hot.json', password_file: 'hot.password' },
    limits: { USDC: { hour: '100', day: '1000.5' } },
  },
};

const read = (...networks: unknown[]) =>
  readNetworks({ networks }, 'networks.json', { isDevelopment: false });

test('a network has defaults for what is not set', () => {
  expect(read(ETHEREUM)).toMatchObject([
    {
      ...{ finality: 'finalized', pollMs: 1_000, rpcTimeoutMs: 10_000, chainId: 1 },
      payouts: {
        limits: { USDC: { hour: '100.00000000', day: '1000.50000000' } },
        ...{ inFlightMax: 16, replaceAfterMs: 60_000, maxFeePerGasWei: 300_000_000_000n },
        gasMax: 200_000n,
      },
    },
  ]);
});

test('fees may be a part of a gwei', () => {
  const payouts = {
    ...ETHEREUM.payouts,
    ...{ max_fee_per_gas_gwei: 0.057, priority_fee_per_gas_gwei: 0.001 },
  };
  expect(read({ ...ETHEREUM, payouts })[0]?.payouts).toMatchObject({
    ...{ maxFeePerGasWei: 57_000_000n, priorityFeePerGasWei: 1_000_000n },
  });
});

test('a network has one hot wallet or a list of them', () => {
  const keystore = (file: string) => ({ kind: 'keystore', file, password_file: 'password' });
  const payoutsOf = (payouts: object) => read({ ...ETHEREUM, payouts })[0]?.payouts;
  const [first, second] = ['one.json', 'two.json'].map((file) => ({
    ...{ kind: 'keystore', file, passwordFile: 'password' },
  }));
  expect(payoutsOf({ signer: keystore('one.json') })).toMatchObject({ signers: [first] });
  expect(payoutsOf({ signers: [keystore('one.json'), keystore('two.json')] })).toMatchObject({
    signers: [first, second],
  });
});

const wrong: [string, unknown[], RegExp][] = [
  [
    'one RPC URL',
    [{ ...ETHEREUM, rpc_urls: ['https://one.example/secret-key'] }],
    /\.rpc_urls must have at least 2/,
  ],
  [
    'an RPC URL without http',
    [{ ...ETHEREUM, rpc_urls: ['secret-key', 'https://a.example'] }],
    /\.rpc_urls\[0\] must be a URL/,
  ],
  [
    'a password that is not percent-encoded',
    [{ ...ETHEREUM, rpc_urls: ['https://me:100%@a.example', 'https://b.example'] }],
    /\.rpc_urls\[0\] must have a name and password that are percent-encoded/,
  ],
  [
    'a client certificate without its key',
    [
      {
        ...ETHEREUM,
        payouts: {
          signer: {
            ...{ kind: 'remote', url: 'https://signer:9000', address: USDC.address },
            certificate_file: 'wallet.pem',
          },
        },
      },
    ],
    /\.payouts\.signer\.certificate_file and key_file must be set together/,
  ],
  ['an unknown field', [{ ...ETHEREUM, rpcs: [] }], /networks\[0\]\.rpcs is not a known field/],
  [
    'an unknown mode',
    [{ ...ETHEREUM, mode: 'prod' }],
    /networks\[0\]\.mode must be "test" or "live"/,
  ],
  [
    'a wrong checksum',
    [{ ...ETHEREUM, tokens: [{ ...USDC, address: USDC.address.replace('A', 'a') }] }],
    /\.tokens\[0\]\.address must be an address/,
  ],
  [
    'the same asset twice',
    [{ ...ETHEREUM, tokens: [USDC, { ...USDC }] }],
    /\.tokens has USDC twice/,
  ],
  [
    'one chain in two modes',
    [ETHEREUM, { ...ETHEREUM, mode: 'test' }],
    /networks has 1 twice; each chain_id/,
  ],
  [
    'a limit as a number',
    [{ ...ETHEREUM, payouts: { ...ETHEREUM.payouts, limits: { USDC: { hour: 1, day: '2' } } } }],
    /\.limits\.USDC\.hour must be a positive amount/,
  ],
  [
    'a limit for an unknown asset',
    [{ ...ETHEREUM, payouts: { ...ETHEREUM.payouts, limits: { DAI: {} } } }],
    /\.limits\.DAI is not a known field/,
  ],
  [
    'a signer of an unknown kind',
    [{ ...ETHEREUM, payouts: { signer: { kind: 'plain' } } }],
    /\.signer\.kind must be "keystore" or "remote"/,
  ],
  [
    'signer and signers together',
    [{ ...ETHEREUM, payouts: { ...ETHEREUM.payouts, signers: [ETHEREUM.payouts.signer] } }],
    /\.payouts\.signers and signer cannot both be set; name every hot wallet in signers/,
  ],
  [
    'an empty list of signers',
    [{ ...ETHEREUM, payouts: { ...ETHEREUM.payouts, signer: undefined, signers: [] } }],
    /\.payouts\.signers must have at least one entry/,
  ],
  [
    'the same key twice',
    [
      {
        ...ETHEREUM,
        payouts: {
          limits: {},
          signers: [ETHEREUM.payouts.signer, { ...ETHEREUM.payouts.signer }],
        },
      },
    ],
    /\.payouts\.signers has hot\.json twice; each hot wallet must be unique/,
  ],
  ['no network', [], /networks must have at least one entry/],
];

test.each(wrong)('refuses %s', (_what, networks, message) => {
  expect(() => read(...networks)).toThrow(message);
  expect(() => read(...networks)).not.toThrow(/secret-key/);
});

test.each([
  ['1.00000001', 6, null],
  ['1.00000100', 6, 1_000_001n],
  ['0.00000001', 18, 10_000_000_000n],
  ['12.00000000', 0, 12n],
  ['12.50000000', 0, null],
] as const)('%s with %i decimals is %p units', (text, decimals, units) => {
  expect(unitsOf(amount(text), decimals)).toBe(units);
  if (units !== null) expect(amountOf(units, decimals)).toBe(text);
});

test('what is smaller than eight decimals is not credited', () => {
  expect(amountOf(19_999_999_999n, 18)).toBe('0.00000001');
});
