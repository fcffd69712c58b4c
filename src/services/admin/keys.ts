/**
 * API keys, for an operator (decisions/api-keys). The secret is returned once. The database stores
 * only its hash, and the audit log neither.
 */
import { isIP } from 'node:net';
import {
  countWorkingKeys,
  insertApiKey,
  lockApiKey,
  replaceSecret,
  networksOf,
  revokeApiKey,
  type ApiKey,
  type StoredSecret,
} from '../../db/repositories/api-keys';
import type { Db, Tx } from '../../db/transaction';
import { apiKeyStatus } from '../../domain/api-key';
import type { Mode } from '../../domain/mode';
import { SCOPES, type Scope } from '../../domain/scopes';
import { hashApiKey, makeApiKey, pepperIdOf } from '../../lib/api-key-secret';
import { newId } from '../../lib/new-id';
import { presentApiKey } from '../../presenters/admin';
import { requireLockedAccount } from './accounts';
import { makeChange, type AuditedObject, type ChangedBy } from './audit';
import { checkText, chosenNames } from './checks';
import { AdminRefusal, InvalidInput } from './refusal';

/** Keys of both modes, newest first, including revoked and expired ones. */
export { listApiKeys as listKeys } from '../../db/repositories/api-keys';

const NAME_LENGTH_MAX = 100;
const REQUESTS_PER_MINUTE = 120;
/** The most that a key may have (decisions/api-keys). */
export const REQUESTS_PER_MINUTE_MAX = 1200;

/** Of one account and mode; revoked and expired ones do not count. */
export const KEYS_MAX = 50;

const ALLOWLIST_ENTRIES_MAX = 100;
const PREFIX_LENGTH: Readonly<Record<4 | 6, RegExp>> = {
  4: /^([0-9]|[12][0-9]|3[0-2])$/,
  6: /^([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/,
};
/** Such requests count as coming from the IPv4 address, so the entry would match none. */
const MAPPED_IPV4 = /^::ffff:/i;

export type KeyWithSecret = ApiKey & { secret: string };

export interface KeySettings {
  accountId: string;
  mode: Mode;
  name: string;
  /** Names of scopes, or `all`. */
  scopes: readonly string[];
  /** Addresses and networks; empty allows every address. */
  allow: readonly string[];
  /** Requests a minute; undefined: 120. */
  rate: number | undefined;
  expiresAt: Date | null;
}

/**
 * @throws InvalidInput, and AdminRefusal for a live key of an account that is not verified, or one too many
 */
export async function createKey(
  db: Db,
  by: ChangedBy,
  pepper: string,
  settings: KeySettings,
): Promise<KeyWithSecret> {
  const { accountId, mode, expiresAt } = settings;
  const checked = {
    accountId,
    mode,
    expiresAt,
    name: checkText('name', settings.name, NAME_LENGTH_MAX),
    scopes: readScopes(settings.scopes),
    requestsPerMinute: readRate(settings.rate),
    allowlist: await readAllowlist(db, settings.allow),
  };
  if (expiresAt !== null && expiresAt <= new Date()) {
    throw new InvalidInput('expires', { code: 'in_the_past', value: expiresAt });
  }
  return makeChange(db, by, async (tx) => {
    // Locked, so that two keys at the same time count each other.
    const account = await requireLockedAccount(tx, accountId);
    if (mode === 'live' && account.verifiedAt === null) {
      throw new AdminRefusal({ code: 'account_not_verified', id: accountId });
    }
    if ((await countWorkingKeys(tx, accountId, mode)) >= KEYS_MAX) {
      throw new AdminRefusal({ code: 'too_many_keys', accountId, mode, max: KEYS_MAX });
    }
    const { secret, stored } = makeSecret(mode, pepper);
    const key = await insertApiKey(tx, { ...checked, ...stored, id: newId('apiKey') });
    return { result: { ...key, secret }, audit: auditOf('api_key.create', null, key) };
  });
}

/**
 * A new secret with the same settings; the old secret stops working at once.
 * @throws AdminRefusal
 */
export async function rotateKey(
  db: Db,
  by: ChangedBy,
  pepper: string,
  id: string,
): Promise<KeyWithSecret> {
  return makeChange(db, by, async (tx) => {
    const key = await requireWorkingKey(tx, id);
    // A rotation keeps the expiry.
    if (apiKeyStatus(key, new Date()) === 'expired') {
      throw new AdminRefusal({ code: 'api_key_expired', id });
    }
    const { secret, stored } = makeSecret(key.mode, pepper);
    const rotated = await replaceSecret(tx, id, stored);
    return { result: { ...rotated, secret }, audit: auditOf('api_key.rotate', key, rotated) };
  });
}

/** Permanent. @throws AdminRefusal when it is already revoked */
export async function revokeKey(db: Db, by: ChangedBy, id: string): Promise<ApiKey> {
  return makeChange(db, by, async (tx) => {
    const key = await requireWorkingKey(tx, id);
    const revoked = await revokeApiKey(tx, id);
    return { result: revoked, audit: auditOf('api_key.revoke', key, revoked) };
  });
}

async function requireWorkingKey(tx: Tx, id: string): Promise<ApiKey> {
  const key = await lockApiKey(tx, id);
  if (key === null) {
    throw new AdminRefusal({ code: 'not_found', object: 'api_key', id });
  }
  if (key.revokedAt !== null) {
    throw new AdminRefusal({ code: 'api_key_revoked', id, revokedAt: key.revokedAt });
  }
  return key;
}

function makeSecret(mode: Mode, pepper: string): { secret: string; stored: StoredSecret } {
  const { secret, displayPrefix, lastFour } = makeApiKey(mode);
  const secretHash = hashApiKey(secret, pepper);
  return { secret, stored: { secretHash, pepperId: pepperIdOf(pepper), displayPrefix, lastFour } };
}

function readScopes(names: readonly string[]): Scope[] {
  const chosen = chosenNames('scopes', names, SCOPES);
  return chosen === 'all' ? [...SCOPES] : chosen;
}

function readRate(rate = REQUESTS_PER_MINUTE): number {
  if (Number.isInteger(rate) && rate >= 1 && rate <= REQUESTS_PER_MINUTE_MAX) return rate;
  const range = { min: 1, max: REQUESTS_PER_MINUTE_MAX };
  throw new InvalidInput('rate', { code: 'out_of_range', value: rate, ...range });
}

function auditOf(action: string, before: ApiKey | null, after: ApiKey): AuditedObject {
  return {
    action,
    object: 'api_key',
    objectId: after.id,
    accountId: after.accountId,
    before: before === null ? null : presentApiKey(before),
    after: presentApiKey(after),
  };
}

/**
 * Reads an allowlist (decisions/api-keys): IPv4, IPv6 and CIDR, as exact networks. A mistake would lock a
 * merchant out or let a stranger in, so ambiguous entries are refused.
 * @returns networks in CIDR form, each once. @throws InvalidInput
 */
async function readAllowlist(db: Db, entries: readonly string[]): Promise<string[]> {
  const count = entries.length;
  if (count > ALLOWLIST_ENTRIES_MAX) {
    throw new InvalidInput('allow', {
      code: 'too_many_addresses',
      count,
      max: ALLOWLIST_ENTRIES_MAX,
    });
  }
  entries.forEach(checkAddress);
  if (count === 0) return [];
  const networks = await networksOf(db, entries);
  for (const { given, network, hasHostBits } of networks) {
    if (!hasHostBits) continue;
    const [address = ''] = given.split('/');
    throw new InvalidInput('allow', { code: 'host_bits', value: given, network, address });
  }
  return [...new Set(networks.map(({ network }) => network))];
}

function checkAddress(value: string): void {
  const [address = '', length, ...more] = value.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || address.includes('%') || more.length > 0) {
    throw new InvalidInput('allow', { code: 'not_an_address', value });
  }
  if (length !== undefined && !PREFIX_LENGTH[version].test(length)) {
    const max = version === 4 ? 32 : 128;
    throw new InvalidInput('allow', { code: 'prefix_length', value, version, max });
  }
  if (MAPPED_IPV4.test(address)) throw new InvalidInput('allow', { code: 'mapped_ipv4', value });
}
