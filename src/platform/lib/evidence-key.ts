/**
 * The key that signs evidence: the heads of the audit log and the dossiers of payouts (Ed25519). The setting
 * is a secret text like the others; the private key follows from it. What was signed with an earlier key is
 * checked with its public key, which stays published.
 */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

/** A key that signs evidence, with its published half. */
export interface EvidenceKey {
  keyId: string;
  /** 32 bytes in base64. */
  publicKey: string;
  /** @returns the signature in base64 */
  sign(text: string): string;
}

/** The headers of an Ed25519 key in PKCS #8 and in SPKI; the 32 bytes of the key follow. */
const PRIVATE_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_HEADER = Buffer.from('302a300506032b6570032100', 'hex');
/** The length of an Ed25519 public key. */
export const PUBLIC_KEY_BYTES = 32;

/** @param secret the setting EVIDENCE_SIGNING_KEY */
export function createEvidenceKey(secret: string): EvidenceKey {
  const seed = createHash('sha256').update(`evidence:${secret}`).digest();
  const der = Buffer.concat([PRIVATE_HEADER, seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const publicKey = spki.subarray(PUBLIC_HEADER.length).toString('base64');
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64'),
  };
}

/** The first half of the SHA-256 of the public key, in hexadecimal. */
export function keyIdOf(publicKey: string): string {
  const digest = createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex');
  return digest.slice(0, 32);
}

/** Whether the signature of the text, in base64, is that of this public key. */
export function isSigned(text: string, signature: string, publicKey: string): boolean {
  const der = Buffer.concat([PUBLIC_HEADER, Buffer.from(publicKey, 'base64')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}
