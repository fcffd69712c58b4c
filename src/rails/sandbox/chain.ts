/**
 * What a real network would provide. Deposit addresses are valid on their network (checksums
 * included) and new for each checkout; nobody holds their keys. Transaction hashes are random.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { base58, base58xrp, bech32 } from '@scure/base';

export interface Deposit {
  payTo: string;
  payToMemo: string | null;
}

const KEY_HASH_BYTES = 20;
const EVM_DIGITS = 40;
const TRON_VERSION = 0x41;
const XRPL_VERSION = 0x00;
const TAG_MAX = 2 ** 32;

interface Network {
  newAddress: () => string;
  /** How a transaction's hash is written; by default in small hexadecimal digits. */
  hash?: (hex: string) => string;
  /** The network fee of each currency that the provider sends, fixed, so that a test can state a total exactly. */
  fees: Readonly<Record<string, string>>;
}

const EVM = { newAddress: newEvmAddress, hash: (hex: string) => `0x${hex}` };

/** The networks that the on-chain provider serves. */
const NETWORKS: ReadonlyMap<string, Network> = new Map<string, Network>([
  ['ethereum', { ...EVM, fees: { USDT: '4.00', USDC: '4.00', ETH: '0.001' } }],
  ['base', { ...EVM, fees: { USDC: '0.05' } }],
  [
    'tron',
    {
      newAddress: () => encodeBase58Check(TRON_VERSION, base58),
      fees: { USDT: '1.00', USDC: '1.00' },
    },
  ],
  [
    'xrpl',
    {
      newAddress: () => encodeBase58Check(XRPL_VERSION, base58xrp),
      hash: (hex) => hex.toUpperCase(),
      fees: { XRP: '0.0001' },
    },
  ],
  [
    'bitcoin',
    {
      // Segwit version 0: the payment to a key's hash.
      newAddress: () => bech32.encode('bc', [0, ...bech32.toWords(randomBytes(KEY_HASH_BYTES))]),
      fees: { BTC: '0.00002' },
    },
  ],
]);

/** Null for a pair that the provider does not send. */
export function networkFee(currency: string, network: string): string | null {
  const fees = NETWORKS.get(network)?.fees ?? {};
  return Object.hasOwn(fees, currency) ? (fees[currency] ?? null) : null;
}

/** @param network one that the provider serves, or null inside the exchange */
export function newDeposit(network: string | null): Deposit {
  if (network === null) return { payTo: newPaymentCode(), payToMemo: null };
  const known = NETWORKS.get(network);
  if (known === undefined) throw new Error(`The sandbox has no addresses on ${network}.`);
  const payToMemo = network === 'xrpl' ? randomInt(1, TAG_MAX).toString() : null;
  return { payTo: known.newAddress(), payToMemo };
}

/** It has decimal digits only, so that it is valid in any checksum case. */
function newEvmAddress(): string {
  return `0x${Array.from({ length: EVM_DIGITS }, () => randomInt(10)).join('')}`;
}

function encodeBase58Check(version: number, alphabet: typeof base58): string {
  const payload = Buffer.concat([Buffer.from([version]), randomBytes(KEY_HASH_BYTES)]);
  const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
  const checksum = sha256(sha256(payload)).subarray(0, 4);
  return alphabet.encode(Buffer.concat([payload, checksum]));
}

/** `EP-4821-0937-5562` */
function newPaymentCode(): string {
  const group = (): string => randomInt(10_000).toString().padStart(4, '0');
  return `EP-${group()}-${group()}-${group()}`;
}

/** An internal transfer has none. */
export function newTxHash(network: string | null): string | null {
  if (network === null) return null;
  const hex = randomBytes(32).toString('hex');
  return NETWORKS.get(network)?.hash?.(hex) ?? hex;
}
