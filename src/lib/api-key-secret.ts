/**
 * Makes and hashes API keys (decision A1). The seed, the dashboard and authentication share it;
 * domain/api-key.ts knows the shape.
 */
import { createHmac, randomInt } from 'node:crypto';
import { BASE62, KEY_SECRET_LENGTH, checkCharacters } from '../domain/api-key';
import type { Mode } from '../domain/mode';

export interface NewApiKey {
  /** The whole key, shown once and stored nowhere. */
  secret: string;
  /** `sk_test_` and the first 4 random characters: enough for a person to tell keys apart. */
  displayPrefix: string;
  lastFour: string;
}

const SHOWN_LENGTH = 4;

export function makeApiKey(mode: Mode): NewApiKey {
  const body = `sk_${mode}_${randomBase62(KEY_SECRET_LENGTH)}`;
  const secret = body + checkCharacters(body);
  return {
    secret,
    displayPrefix: secret.slice(0, `sk_${mode}_`.length + SHOWN_LENGTH),
    lastFour: secret.slice(-SHOWN_LENGTH),
  };
}

/**
 * What the database keeps of a key. A plain hash of 190 random bits could not be guessed either;
 * the pepper makes a copy of the table useless for testing a key that leaked elsewhere.
 */
export function hashApiKey(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}
