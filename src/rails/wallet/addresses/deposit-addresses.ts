/**
 * Deposit addresses: one for each checkout, derived from an extended public key (BIP 32). The private
 * key stays offline with whoever sweeps: nothing here can sign.
 *
 * The key is an account's, such as m/44'/60'/0' of a hardware wallet. Addresses are its external
 * chain, m/44'/60'/0'/0/index, so that the wallet software which holds the seed finds them.
 */
import { ECDH } from 'node:crypto';
import { type Address, toHex } from 'viem';
import { HDKey, publicKeyToAddress } from 'viem/accounts';
import { SetupError } from '../../../platform/lib/setup-error';

export type DepositAddresses = (index: number) => Address;

const EXTERNAL_CHAIN = 0;
/** Higher indexes are hardened and need the private key. */
export const ADDRESS_INDEX_MAX = 2 ** 31 - 1;

/**
 * @param variable where the key comes from, for the error
 * @throws SetupError when it is not an extended public key; the error never contains the key
 */
export function openXpub(xpub: string, variable: string): DepositAddresses {
  const chain = readXpub(xpub, variable).deriveChild(EXTERNAL_CHAIN);
  return (index) => {
    if (!Number.isSafeInteger(index) || index < 0 || index > ADDRESS_INDEX_MAX) {
      throw new RangeError(`not an address index: ${index}`);
    }
    const { publicKey } = chain.deriveChild(index);
    if (publicKey === null) throw new Error('the extended key has no public key');
    // Node knows the curve, so no other library is needed for the second half of the point.
    const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
    return publicKeyToAddress(toHex(point));
  };
}

function readXpub(xpub: string, variable: string): HDKey {
  // This check comes first, because a private key must not be here at all.
  if (/^[a-z]prv/i.test(xpub)) {
    throw new SetupError(
      `${variable} is a private key. Set it to the extended public key (xpub…) and keep the private key offline.`,
    );
  }
  try {
    return HDKey.fromExtendedKey(xpub);
  } catch {
    throw new SetupError(
      `${variable} must be an extended public key (xpub…) of an account, such as m/44'/60'/0'.`,
    );
  }
}
