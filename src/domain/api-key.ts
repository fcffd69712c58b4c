/**
 * The shape of an API key (decisions/keys#api-keys): `sk_test_` or `sk_live_`, 32 random base62 characters,
 * then 6 characters that repeat the CRC32 of all before, so that a typo is refused without a
 * database read. lib/api-key-secret.ts makes keys; this module checks them.
 */
import type { Mode } from './mode';

/** The random characters of a key, after its prefix. */
export const KEY_SECRET_LENGTH = 32;
/** The characters of keys, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECK_LENGTH = 6;
const KEY = new RegExp(`^sk_(test|live)_[0-9A-Za-z]{${KEY_SECRET_LENGTH + CHECK_LENGTH}}$`);

/** The key's mode, or null when the text cannot be a key of ours. */
export function parseApiKey(text: string): { mode: Mode } | null {
  const match = KEY.exec(text);
  if (match === null) return null;
  if (checkCharacters(text.slice(0, -CHECK_LENGTH)) !== text.slice(-CHECK_LENGTH)) return null;
  return { mode: match[1] === 'live' ? 'live' : 'test' };
}

/** The 6 base62 characters of the CRC32 (IEEE) of `text`, which is ASCII. */
export function checkCharacters(text: string): string {
  let rest = crc32(text);
  let characters = '';
  for (let i = 0; i < CHECK_LENGTH; i++) {
    characters = BASE62.charAt(rest % 62) + characters;
    rest = Math.floor(rest / 62);
  }
  return characters;
}

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

export const API_KEY_STATUSES = ['working', 'revoked', 'expired'] as const;

/** Whether a key works now. A revoked key counts as revoked even after its expiry. */
export function apiKeyStatus(
  { revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date | null },
  now: Date,
): (typeof API_KEY_STATUSES)[number] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'working';
}
