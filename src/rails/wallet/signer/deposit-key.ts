/**
 * The key of the deposit addresses: an extended private key (BIP 32) in an encrypted file. The
 * wallet that serves customers has only its public half (WALLET_TEST_XPUB, WALLET_LIVE_XPUB); this
 * file belongs to whoever sweeps, on this machine or an offline one.
 *
 * The file has the form of a keystore, and contains the 32 bytes of the key and the chain code.
 */
import { randomBytes } from 'node:crypto';
import { bytesToHex, type Hex, hexToBytes } from 'viem';
import { HDKey, privateKeyToAccount } from 'viem/accounts';
import { SetupError } from '../../../platform/lib/setup-error';
import { decryptFile, encryptFile, type KeystoreFiles } from './keystore';
import type { Signer } from './port';

const ACCOUNT_PATH = "m/44'/60'/0'";

/** The same chain as in addresses/deposit-addresses.ts: m/44'/60'/0'/0/index. */
const EXTERNAL_CHAIN = 0;

export interface DepositKey {
  xpub: string;
  signerOf: (index: number) => Signer;
}

/**
 * Writes a new file, which must not exist yet.
 * @param extended an existing account's extended private key (xprv…), or undefined for a new one
 * @returns the extended public key for the wallet's environment
 */
export function createDepositKey(files: KeystoreFiles, extended?: string): string {
  const account =
    extended === undefined
      ? HDKey.fromMasterSeed(randomBytes(64)).derive(ACCOUNT_PATH)
      : readExtended(extended.trim());
  const { privateKey, chainCode, publicExtendedKey } = account;
  if (privateKey === null || chainCode === null) {
    throw new SetupError('The key must be an extended private key (xprv…) of an account.');
  }
  encryptFile(files, `${bytesToHex(privateKey)}${bytesToHex(chainCode).slice(2)}`, {
    xpub: publicExtendedKey,
  });
  return publicExtendedKey;
}

/** @throws SetupError that names the file and never its content */
export function openDepositKey(files: KeystoreFiles): DepositKey {
  const bytes = hexToBytes(decryptFile(files));
  if (bytes.length !== 64) throw new SetupError(`${files.keystore} is not a key of deposits.`);
  const account = new HDKey({ privateKey: bytes.slice(0, 32), chainCode: bytes.slice(32) });
  return {
    // The key may have another depth than the first one; the addresses are the same.
    xpub: account.publicExtendedKey,
    signerOf: (index) => {
      const { privateKey } = account.deriveChild(EXTERNAL_CHAIN).deriveChild(index);
      if (privateKey === null) throw new Error('the key of deposits has no private key');
      const { address, signTransaction } = privateKeyToAccount(bytesToHex(privateKey));
      return { address, sign: (transaction): Promise<Hex> => signTransaction(transaction) };
    },
  };
}

function readExtended(text: string): HDKey {
  try {
    return HDKey.fromExtendedKey(text);
  } catch {
    throw new SetupError('The key must be an extended private key (xprv…) of an account.');
  }
}
