/** The sandbox's magic codes: unambiguous, documented, and carried by addresses that are valid. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeAmount, shortenAmount } from '../../../src/rails/sandbox/decimal-text';
import {
  chooseScenario,
  magicAddress,
  magicEmail,
  magicExchangeId,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
} from '../../../src/rails/sandbox/transfers/scenarios';

const FAMILIES = ['evm', 'tron', 'bitcoin', 'xrpl'] as const;
const ORDINARY_AMOUNT = '10.50000000';
const ORDINARY_DESTINATION = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const ROOT = join(__dirname, '../../..');
const GUIDES = ['payouts', 'quickstart', 'testing'].map((name) => `docs/guides/${name}.md`);
/** Cells padded with single spaces, however the tables are laid out. */
const DOCUMENT = readFileSync(join(ROOT, 'docs/sandbox.md'), 'utf8').replace(/ +/g, ' ');

function destinationsOf(name: ScenarioName): string[] {
  return [
    magicExchangeId(name),
    magicEmail(name),
    ...FAMILIES.map((family) => magicAddress(name, family)),
  ];
}

describe.each(SCENARIO_NAMES)('%s', (name) => {
  it('is called by each of its destinations', () => {
    for (const destination of destinationsOf(name)) {
      expect(chooseScenario(destination, ORDINARY_AMOUNT)).toBe(name);
    }
  });

  it('is called by an amount with its code, unless a destination calls another', () => {
    const amount = `123.0000${SCENARIOS[name].code}`;
    expect(chooseScenario(ORDINARY_DESTINATION, amount)).toBe(name);
    expect(chooseScenario(magicEmail('slow'), amount)).toBe('slow');
  });

  it('has addresses with right checksums that end in its code', () => {
    const hex = SCENARIOS[name].code;
    expect(magicAddress(name, 'evm')).toMatch(/^0x[0-9]{40}$/);
    expect(magicAddress(name, 'evm').endsWith(hex)).toBe(true);
    expect(decodeBase58Check(magicAddress(name, 'tron'), BITCOIN_ALPHABET)).toMatch(
      new RegExp(`^4120.{34}${hex}$`),
    );
    expect(decodeBase58Check(magicAddress(name, 'xrpl'), XRP_ALPHABET)).toMatch(
      new RegExp(`^0020.{34}${hex}$`),
    );
    expect(decodeP2wpkh(magicAddress(name, 'bitcoin'))).toMatch(new RegExp(`^20.{34}${hex}$`));
  });

  it('stands in docs/sandbox.md as it is', () => {
    const { code, summary } = SCENARIOS[name];
    const cells = (all: string[]): string => `| ${all.join(' | ')} |`;
    const quoted = [name, ...destinationsOf(name)].map((text) => `\`${text}\``);
    const [title = '', exchangeId = '', email = '', ...addresses] = quoted;
    expect(DOCUMENT).toContain(cells([title, `\`${code}\``, summary]));
    expect(DOCUMENT).toContain(cells([title, exchangeId, email]));
    expect(DOCUMENT).toContain(cells([title, ...addresses]));
  });
});

it('is called by no address of a sample, so that amounts with codes have their effect', () => {
  const samples = ['README.md', ...GUIDES].flatMap((name) => {
    const text = readFileSync(join(ROOT, name), 'utf8');
    return [...text.matchAll(/"value": ?"(T\w{33}|0x\w{40})"/g)].map(([, value]) => value!);
  });
  expect(samples).toContain('TR4rJfyKxgk8oWSZaPBGwvfA1t1sQfhrz7');
  for (const address of samples) expect(chooseScenario(address, ORDINARY_AMOUNT)).toBe('sends');
});

it('has no code and no destination twice', () => {
  const all = SCENARIO_NAMES.flatMap((name) => [SCENARIOS[name].code, ...destinationsOf(name)]);
  expect(new Set(all).size).toBe(all.length);
});

it.each(['10.50000000', '1.90010000', '9001.00000000', '0.00009999'])(
  'simply sends an ordinary amount like %s',
  (amount) => {
    expect(chooseScenario(ORDINARY_DESTINATION, amount)).toBe('sends');
  },
);

it.each([
  ['10', '10.00000000', '10'],
  ['010.50', '10.50000000', '10.5'],
  ['0.00000001', '0.00000001', '0.00000001'],
  ['100.00', '100.00000000', '100'],
  ['999999999999999999.12345678', '999999999999999999.12345678', '999999999999999999.12345678'],
])('reads the amount %s as text', (given, normalized, short) => {
  expect(normalizeAmount(given)).toBe(normalized);
  expect(shortenAmount(normalized)).toBe(short);
});

it.each(['0', '0.00', '-1', '1e3', '1.123456789', '.5', '5.', '', ' 1', 5, null, undefined, {}])(
  'reads no amount in %p',
  (given) => {
    expect(normalizeAmount(given)).toBeNull();
  },
);

const BITCOIN_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const XRP_ALPHABET = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz';
const PAYLOAD_AND_CHECKSUM_DIGITS = 50;

/** The version byte and payload as hex digits; throws when the checksum is wrong. */
function decodeBase58Check(text: string, alphabet: string): string {
  let value = 0n;
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) throw new Error(`${letter} is not in the alphabet`);
    value = value * 58n + BigInt(digit);
  }
  const bytes = Buffer.from(value.toString(16).padStart(PAYLOAD_AND_CHECKSUM_DIGITS, '0'), 'hex');
  const payload = bytes.subarray(0, -4);
  const checksum = sha256(sha256(payload)).subarray(0, 4);
  if (!checksum.equals(bytes.subarray(-4))) throw new Error(`${text} has a wrong checksum`);
  return payload.toString('hex');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

const BECH32_ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const BECH32_GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** The prefix "bc", spread out as BIP 173 has it. */
const BECH32_PREFIX = [3, 3, 0, 2, 3];

/** The 20-byte program as hex digits; throws unless it is a mainnet version 0 address. */
function decodeP2wpkh(text: string): string {
  const digits = Array.from(text.slice(3), (letter) => BECH32_ALPHABET.indexOf(letter));
  let check = 1;
  for (const digit of [...BECH32_PREFIX, ...digits]) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ digit;
    for (const [index, generator] of BECH32_GENERATORS.entries()) {
      if ((top >>> index) & 1) check ^= generator;
    }
  }
  if (!text.startsWith('bc1') || digits[0] !== 0 || check >>> 0 !== 1) {
    throw new Error(`${text} is not a valid address`);
  }
  const bits = digits.slice(1, -6).map((digit) => digit.toString(2).padStart(5, '0'));
  return BigInt(`0b${bits.join('')}`)
    .toString(16)
    .padStart(40, '0');
}
