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

const NEW_ADDRESS: Readonly<Record<string, () => string>> = {
  ethereum: newEvmAddress,
  base: newEvmAddress,
  tron: () => encodeBase58Check(TRON_VERSION, base58),
  xrpl: () => encodeBase58Check(XRPL_VERSION, base58xrp),
  // Segwit version 0: the payment to a key's hash.
  bitcoin: () => bech32.encode('bc', [0, ...bech32.toWords(randomBytes(KEY_HASH_BYTES))]),
};

/** @param network one that the provider serves, or null inside the exchange */
export function newDeposit(network: string | null): Deposit {
  if (network === null) return { payTo: newPaymentCode(), payToMemo: null };
  const newAddress = NEW_ADDRESS[network];
  if (newAddress === undefined) throw new Error(`The sandbox has no addresses on ${network}.`);
  const payToMemo = network === 'xrpl' ? randomInt(1, TAG_MAX).toString() : null;
  return { payTo: newAddress(), payToMemo };
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

const EVM_NETWORKS = ['ethereum', 'base'];

/** An internal transfer has none; EVM networks write theirs with 0x, XRP in capitals. */
export function newTxHash(network: string | null): string | null {
  if (network === null) return null;
  const hash = randomBytes(32).toString('hex');
  if (network === 'xrpl') return hash.toUpperCase();
  return EVM_NETWORKS.includes(network) ? `0x${hash}` : hash;
}
