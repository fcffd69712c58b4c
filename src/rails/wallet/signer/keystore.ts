/**
 * A key in an encrypted file: Web3 Secret Storage, version 3, as geth and other wallets write it.
 * The password is read from a file of its own.
 *
 * Node derives the key from the password, ten times faster than ox does in JavaScript. Besides,
 * `Keystore.toKeyAsync` of ox 0.14 ignores the file's own p and r and cannot open what geth writes.
 */
import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Keystore } from 'ox';
import type { Address, Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Signer } from './port';

export interface KeystoreFiles {
  keystore: string;
  password: string;
}

const PASSWORD_LENGTH_MIN = 12;

/** The same as geth's own: about a second, and 256 MiB, for each guess of the password. */
const SCRYPT = { dklen: 32, n: 262_144, r: 8, p: 1 } as const;
const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i;

/**
 * Opens the key; deriving it from the password takes up to some seconds.
 * @throws SetupError that names the file and never its content
 */
export function openKeystore(files: KeystoreFiles): Signer {
  const key = decryptFile(files);
  if (!PRIVATE_KEY.test(key))
    throw new SetupError(`${files.keystore} is not the key of an account.`);
  const account = privateKeyToAccount(key);
  return { address: account.address, sign: (transaction) => account.signTransaction(transaction) };
}

/**
 * Writes a new file, which must not exist yet.
 * @param privateKey an existing key, or undefined for a new random one
 * @throws SetupError for a short password, a malformed key or an existing file
 */
export function createKeystore(files: KeystoreFiles, privateKey?: string): Address {
  const key = privateKey === undefined ? generatePrivateKey() : readPrivateKey(privateKey);
  const { address } = privateKeyToAccount(key);
  encryptFile(files, key, { address: address.slice(2).toLowerCase() });
  return address;
}

/** @param shown members that are not secret */
export function encryptFile(
  files: KeystoreFiles,
  secret: Hex,
  shown: Readonly<Record<string, string>>,
): void {
  const password = readPassword(files.password);
  if (password.length < PASSWORD_LENGTH_MIN) {
    throw new SetupError(
      `The password in ${files.password} must have at least ${PASSWORD_LENGTH_MIN} characters.`,
    );
  }
  const kdf = {
    kdf: 'scrypt' as const,
    kdfparams: { ...SCRYPT, salt: randomBytes(32).toString('hex') },
  };
  const content = {
    ...Keystore.encrypt(secret, deriveKey(kdf, password), { ...kdf, iv: randomBytes(16) }),
    ...shown,
  };
  try {
    writeFileSync(files.keystore, `${JSON.stringify(content, null, 2)}\n`, {
      flag: 'wx',
      mode: 0o600,
      // Money may be sent to its address at once.
      flush: true,
    });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`;
    throw new SetupError(`${files.keystore} ${reason}. Name a new file.`);
  }
}

export function decryptFile(files: KeystoreFiles): Hex {
  const keystore = readKeystore(files.keystore);
  const password = readPassword(files.password);
  try {
    return Keystore.decrypt(keystore, deriveKey(keystore.crypto, password));
  } catch {
    throw new SetupError(`The password in ${files.password} does not open ${files.keystore}.`);
  }
}

function readPrivateKey(text: string): Hex {
  const trimmed = text.trim();
  const key = trimmed.startsWith('0x') ? trimmed : `0x${trimmed}`;
  if (!PRIVATE_KEY.test(key)) {
    throw new SetupError('The private key must be 64 hexadecimal digits.');
  }
  try {
    privateKeyToAccount(key as Hex);
  } catch {
    throw new SetupError('The private key is not a valid key of the curve secp256k1.');
  }
  return key.toLowerCase() as Hex;
}

function readKeystore(path: string): Keystore.Keystore {
  const text = readSecretFile(path);
  try {
    const value = JSON.parse(text) as Partial<Keystore.Keystore>;
    const kdf: unknown = value.crypto?.kdf;
    if (value.version === 3 && (kdf === 'scrypt' || kdf === 'pbkdf2')) {
      return value as Keystore.Keystore;
    }
  } catch {
    // Reported below: a parser's own message may quote the file.
  }
  throw new SetupError(`${path} is not a Web3 Secret Storage file of version 3.`);
}

function deriveKey(
  crypto: Pick<Keystore.Keystore['crypto'], 'kdf' | 'kdfparams'>,
  password: string,
): Hex {
  const { kdf, kdfparams } = crypto as Keystore.DeriveOpts;
  const salt = Buffer.from(kdfparams.salt, 'hex');
  if (kdf === 'pbkdf2') {
    const { c, dklen } = kdfparams;
    return `0x${pbkdf2Sync(password, salt, c, dklen, 'sha256').toString('hex')}`;
  }
  const { n, r, p, dklen } = kdfparams;
  // OpenSSL refuses these, which some wallets write (n = 262144 with r = 1).
  if (n >= 2 ** (16 * r)) {
    const [key] = Keystore.scrypt({ password, n, r, p, salt: new Uint8Array(salt) });
    return typeof key === 'function' ? key() : key;
  }
  const maxmem = 256 * n * r;
  return `0x${scryptSync(password, salt, dklen, { N: n, r, p, maxmem }).toString('hex')}`;
}

function readPassword(path: string): string {
  const password = readSecretFile(path).replace(/\r?\n$/, '');
  if (password === '') throw new SetupError(`${path} is empty; it must contain the password.`);
  return password;
}

/** @throws SetupError that names the file and never its content */
export function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SetupError(`${path} cannot be read (${code}).`);
  }
}
