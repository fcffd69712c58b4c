/** Generates and hashes API keys (decisions/keys#api-keys). domain/api-key.ts defines their format. */
import { createHash, createHmac, randomInt } from 'node:crypto';
import { BASE62, KEY_SECRET_LENGTH, checkCharacters } from '../../domain/api-key';
import type { Mode } from '../../domain/mode';

/** A new key, with what is stored of it. */
export interface NewApiKey {
  /** The full key, shown once and never stored. */
  secret: string;
  /** `sk_test_` and the first 4 random characters, so that people can tell keys apart. */
  displayPrefix: string;
  lastFour: string;
}

const SHOWN_LENGTH = 4;

/** Makes a random key of this mode. */
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
 * The stored hash of a key. The pepper is not needed against guessing (a key has 190 random bits); it
 * makes a copy of the table useless for testing keys that leaked elsewhere.
 */
export function hashApiKey(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

/** Identifies a pepper without revealing it. */
export function pepperIdOf(pepper: string): string {
  return createHash('sha256').update(`api keys:${pepper}`).digest('hex').slice(0, 8);
}

/** While KEY_PEPPER changes, keys are accepted with all of them; new and used keys get the current one. */
export interface Peppers {
  current: string;
  /** The pepper that becomes current later. It is accepted and never written. Null means none. */
  next: string | null;
  earlier: readonly string[];
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}
