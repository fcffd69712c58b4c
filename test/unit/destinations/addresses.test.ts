/**
 * Known addresses: the vectors of EIP-55, BIP 173 and BIP 350, and published addresses of Tron
 * and the XRP Ledger. A segwit version above 1 is valid to BIP 350 and refused here.
 */
import { CHECKED_NETWORKS, destinationFault } from '../../../src/adapters/destinations';
import {
  type AddressFamily,
  MAGIC_ADDRESSES,
} from '../../../src/rails/sandbox/transfers/magic-addresses';

const EVM = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
];
const TRON = [
  'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8',
  'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
];
const BITCOIN = [
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  '1111111111111111111114oLvT2',
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
  'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
];
const XRPL = [
  'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
  'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
  'rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B',
  'rrrrrrrrrrrrrrrrrrrrBZbvji',
  'rrrrrrrrrrrrrrrrrrrrrhoLvTp',
];

const VALID: Record<string, readonly string[]> = {
  ethereum: EVM,
  base: EVM,
  tron: TRON,
  bitcoin: BITCOIN,
  xrpl: XRPL,
};
const FAMILIES: Record<string, AddressFamily> = {
  ethereum: 'evm',
  base: 'evm',
  tron: 'tron',
  bitcoin: 'bitcoin',
  xrpl: 'xrpl',
};

const valid = Object.entries(VALID).flatMap(([network, all]) =>
  all.map((address) => ({ network, address })),
);

test.each(valid)('$network takes $address', ({ network, address }) => {
  expect(destinationFault(network, address)).toBeNull();
});

test.each(
  valid.flatMap(({ network, address }) =>
    CHECKED_NETWORKS.filter((other) => FAMILIES[other] !== FAMILIES[network]).map((other) => ({
      other,
      network,
      address,
    })),
  ),
)('$other refuses the $network address $address', ({ other, address }) => {
  expect(destinationFault(other, address)).toMatch(/\.$/);
});

const TEST_NETWORK = /testnet/;
const CHECKSUM = /checksum/;
const LENGTH = /length .* not valid/;
const UNUSED_VERSION = /versions above 1/;

test.each<[network: string, address: string, sentence: RegExp]>([
  ['ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', /40 digits/],
  ['ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd', /40 digits/],
  ['ethereum', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /40 digits/],
  ['ethereum', '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', /40 digits/],
  ['ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg', /40 digits/],
  ['ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n', /40 digits/],
  ['ethereum', 'vitalik.eth', /40 digits/],
  ['ethereum', '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', CHECKSUM],
  ['base', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', CHECKSUM],

  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T', CHECKSUM],
  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6', /34 letters/],
  ['tron', '41a614f803b6fd780986a42c78ec9c7f77e6ded13c', /34 letters/],
  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj0t', /34 letters/],

  ['xrpl', 'XVLhHMPHU98es4dbozjVtdWzVrDjtV5AqEL4xcZj5whKbmc', /X-address.*destination\.memo/],
  ['xrpl', 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ', /X-address/],
  ['xrpl', 'T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ', /X-address/],
  ['xrpl', 'sn3nxiW7v8KXzPzAqzyHXbSSKNuN9', /starts with "r"/],
  ['xrpl', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTH', CHECKSUM],

  ['bitcoin', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', TEST_NETWORK],
  ['bitcoin', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', TEST_NETWORK],
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', TEST_NETWORK],
  ['bitcoin', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', TEST_NETWORK],
  ['bitcoin', 'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy', TEST_NETWORK],
  ['bitcoin', 'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c', TEST_NETWORK],
  ['bitcoin', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', TEST_NETWORK],
  ['bitcoin', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ', /starts with "bc1"/],
  ['bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', CHECKSUM],

  // BIP 173, invalid, and what it still took for version 1 and above before BIP 350.
  ['bitcoin', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty', /starts with "bc1"/],
  ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', CHECKSUM],
  ['bitcoin', 'BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2', CHECKSUM],
  ['bitcoin', 'bc1rw5uspcuh', CHECKSUM],
  [
    'bitcoin',
    'bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90',
    CHECKSUM,
  ],
  ['bitcoin', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P', LENGTH],
  ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kV8f3t4', /all lower case or all upper case/],
  ['bitcoin', 'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du', CHECKSUM],
  ['bitcoin', 'bc1gmk9yu', /starts with "bc1"/],
  [
    'bitcoin',
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx',
    CHECKSUM,
  ],
  ['bitcoin', 'BC1SW50QA3JX3S', CHECKSUM],
  ['bitcoin', 'bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj', CHECKSUM],

  // BIP 350, invalid.
  [
    'bitcoin',
    'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut',
    /starts with "bc1"/,
  ],
  ['bitcoin', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', CHECKSUM],
  ['bitcoin', 'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL', CHECKSUM],
  ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', CHECKSUM],
  ['bitcoin', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', CHECKSUM],
  ['bitcoin', 'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R', UNUSED_VERSION],
  ['bitcoin', 'bc1pw5dgrnzv', LENGTH],
  [
    'bitcoin',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
    LENGTH,
  ],
  ['bitcoin', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf', LENGTH],

  // BIP 350, valid, of a version or a length that nobody uses.
  ['bitcoin', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y', LENGTH],
  ['bitcoin', 'BC1SW50QGDZ25J', UNUSED_VERSION],
  ['bitcoin', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs', UNUSED_VERSION],
])('%s rejects %s with a reason', (network, address, sentence) => {
  expect(destinationFault(network, address)).toMatch(sentence);
});

const magic = Object.entries(MAGIC_ADDRESSES).flatMap(([scenario, addresses]) =>
  CHECKED_NETWORKS.map((network) => ({
    scenario,
    network,
    address: addresses[FAMILIES[network]!],
  })),
);

test.each(magic)('$network takes the sandbox’s $address ($scenario)', ({ network, address }) => {
  expect(destinationFault(network, address)).toBeNull();
});

test.each([null, '', 'internal', 'solana', 'Ethereum', 'constructor', '__proto__'])(
  'nothing is taken on the network %p, which has no check',
  (network) => {
    for (const { address } of valid) {
      expect(destinationFault(network, address)).toMatch(/cannot be checked/);
    }
  },
);
