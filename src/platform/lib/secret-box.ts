/**
 * Encrypts secrets that the database stores, with a key that is not in the database: AES-256-GCM
 * (decisions/webhooks#webhook-secrets). A secret encrypted for one object cannot be decrypted for another.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { wallClockMs } from './wall-clock';

/** A secret that is encrypted, with the id of the key. */
export interface SealedSecret {
  /** Nonce, tag and ciphertext. */
  sealed: Buffer;
  /** Identifies the encryption key without revealing it. */
  keyId: string;
}

/** Encrypts secrets for an owner, and decrypts them with the current key or an earlier one. */
export interface SecretBox {
  /** Identifies the current key. */
  keyId: string;
  /** @param owner the id of the object that the secret belongs to */
  seal(secret: string, owner: string): SealedSecret;
  /** @throws Error if the key is unknown, or the bytes or the owner differ from those of `seal` */
  open(sealed: SealedSecret, owner: string): string;
  /**
   * Hashes of a text that cannot be guessed without the keys: with the current key first, and with each
   * earlier one, so that a hash stored before a change of the key is found.
   */
  fingerprints(text: string): readonly [Buffer, ...Buffer[]];
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param current the key for encryption, @param earlier keys for decryption only */
export function createSecretBox(current: string, earlier: readonly string[]): SecretBox {
  const keys = new Map([...earlier, current].map((text) => [keyIdOf(text), keyOf(text)]));
  const keyId = keyIdOf(current);
  return {
    keyId,
    seal: (secret, owner) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(current), nonce);
      cipher.setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]), keyId };
    },
    open: (secret, owner) => {
      const key = keys.get(secret.keyId);
      if (key === undefined) {
        throw new Error(
          `the secret of ${owner} is encrypted with key ${secret.keyId}, which is not set: ` +
            'add it to WEBHOOK_SECRET_KEYS_EARLIER',
        );
      }
      const nonce = secret.sealed.subarray(0, NONCE_BYTES);
      // Without a length, Node takes tags of 4 bytes, which can be guessed.
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner));
      decipher.setAuthTag(secret.sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = secret.sealed.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    },
    fingerprints: (text) => [
      fingerprintOf(current, text),
      ...earlier.map((key) => fingerprintOf(key, text)),
    ],
  };
}

/** Encrypts a JSON value for a cookie or a hidden field, which expires after these minutes. */
export function sealValue(box: SecretBox, value: unknown, owner: string, minutes: number): string {
  const text = JSON.stringify([value, wallClockMs() + minutes * 60_000]);
  const { sealed, keyId } = box.seal(text, owner);
  return `${keyId}.${sealed.toString('base64url')}`;
}

/**
 * Decrypts the value that `sealValue` encrypted. Null if it is expired, of another owner, forged, or of a
 * key that is not set.
 */
export function openValue(box: SecretBox, text: string, owner: string): unknown {
  const [keyId = '', sealed] = text.split('.');
  if (sealed === undefined) return null;
  try {
    const opened = box.open({ keyId, sealed: Buffer.from(sealed, 'base64url') }, owner);
    const [value, until] = JSON.parse(opened) as [unknown, number];
    return until > wallClockMs() ? value : null;
  } catch {
    return null;
  }
}

/**
 * The encryption key of a setting, whose text is long and random, so that a single hash is sufficient.
 */
function keyOf(text: string): Buffer {
  return createHash('sha256').update(`webhook secrets:${text}`).digest();
}

function fingerprintOf(key: string, text: string): Buffer {
  return createHmac('sha256', keyOf(`fingerprints:${key}`))
    .update(text)
    .digest();
}

function keyIdOf(text: string): string {
  return createHash('sha256').update(keyOf(text)).digest('hex').slice(0, 8);
}
