/** The canonical spelling of an address, to compare addresses that others have written. */
import { base58xrp } from '@scure/base';
import { decodeBase58Check, encodeBase58Check } from './base58check';
import { withChecksum } from './evm';

const EVM = /^0x[0-9a-f]{40}$/i;
/** Bech32 and bech32m: a prefix, the last 1, and characters of their alphabet (BIP 173). */
const BECH32 = /^[a-z0-9]{1,83}1[02-9ac-hj-np-z]{6,}$/;
/** An XRP Ledger address with the tag that people write behind it. */
const XRPL_WITH_TAG = /^(r[1-9A-HJ-NP-Za-km-z]{24,34})(?:[:?].*)?$/;
const XRPL_X_ADDRESS = /^X[1-9A-HJ-NP-Za-km-z]{46}$/;
/** Prefix, account and tag of an X-address (XLS-5). */
const X_PREFIX = [0x05, 0x44];
const X_BYTES = 31;
const ACCOUNT_BYTES = 20;

/**
 * The case of EVM and bech32 addresses means nothing, and a tag is not part of an XRP Ledger address.
 * Other addresses stay as they are.
 */
export function canonicalAddress(value: string): string {
  if (EVM.test(value)) return value.toLowerCase();
  const [, classic] = XRPL_WITH_TAG.exec(value) ?? [];
  if (classic !== undefined) return classic;
  if (XRPL_X_ADDRESS.test(value)) return classicOf(value) ?? value;
  const lower = value.toLowerCase();
  // Bech32 in both cases is not valid.
  const isOneCase = value === lower || value === value.toUpperCase();
  return isOneCase && BECH32.test(lower) ? lower : value;
}

/**
 * The spellings in which a merchant may have written this address: as it is, in lower case, with its
 * checksum.
 */
export function spellingsOf(value: string): string[] {
  const canonical = canonicalAddress(value);
  const checksummed = EVM.test(canonical) ? [`0x${withChecksum(canonical.slice(2))}`] : [];
  return [...new Set([value, canonical, ...checksummed])];
}

function classicOf(xAddress: string): string | null {
  const payload = decodeBase58Check(xAddress, base58xrp);
  if (payload?.length !== X_BYTES || !X_PREFIX.every((byte, at) => payload[at] === byte))
    return null;
  const account = payload.subarray(X_PREFIX.length, X_PREFIX.length + ACCOUNT_BYTES);
  return encodeBase58Check(Uint8Array.of(0, ...account), base58xrp);
}
