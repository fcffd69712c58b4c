/**
 * API keys, for an operator (decisions A1, A2). A secret is in what the caller gets, once, and
 * nowhere else: the database keeps its hash, the audit log neither.
 */
import {
  insertApiKey,
  listApiKeys,
  lockApiKey,
  replaceSecret,
  revokeApiKey,
  type ApiKey,
  type StoredSecret,
} from '../../db/repositories/api-keys';
import type { Db, Tx } from '../../db/transaction';
import type { Mode } from '../../domain/mode';
import { SCOPES, type Scope } from '../../domain/scopes';
import { hashApiKey, makeApiKey } from '../../lib/api-key-secret';
import { newId } from '../../lib/new-id';
import { requireAccount } from './accounts';
import { readAllowlist } from './allowlist';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { checkText } from './checks';
import { AdminRefusal, InvalidInput } from './refusal';

const NAME_LENGTH_MAX = 100;
const REQUESTS_PER_MINUTE = 120;
/** Decision A2. */
export const REQUESTS_PER_MINUTE_MAX = 1200;

export interface KeySettings {
  accountId: string;
  mode: Mode;
  name: string;
  /** Names of scopes; `all` stands for every one. */
  scopes: readonly string[];
  /** Addresses and networks; none lets every address in. */
  allow: readonly string[];
  /** Requests a minute; undefined: 120. */
  rate: number | undefined;
  expiresAt: Date | null;
}

export function presentKey(key: ApiKey) {
  return {
    id: key.id,
    object: 'api_key',
    account_id: key.accountId,
    mode: key.mode,
    name: key.name,
    display: `${key.displayPrefix}…${key.lastFour}`,
    status: statusOf(key),
    scopes: key.scopes,
    allow: key.allowlist,
    rate: key.requestsPerMinute,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    last_used_address: key.lastUsedAddress,
  };
}

export type ShownKey = ReturnType<typeof presentKey>;
export type KeyWithSecret = ShownKey & { secret: string };

/** @throws InvalidInput, and AdminRefusal for a live key of an account that is not verified */
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
    throw new InvalidInput('expires', `${expiresAt.toISOString()} is past: name a time to come.`);
  }
  return makeChange(db, by, async (tx) => {
    const account = await requireAccount(tx, accountId);
    if (mode === 'live' && account.verifiedAt === null) {
      throw new AdminRefusal(
        `${accountId} is not verified, so it gets no live key: \`accounts verify\` comes first.`,
      );
    }
    const { secret, stored } = makeSecret(mode, pepper);
    const key = await insertApiKey(tx, { ...checked, ...stored, id: newId('apiKey') });
    return {
      result: { ...presentKey(key), secret },
      audit: auditOf('api_key.create', null, key),
    };
  });
}

/** A new secret, the same settings; the old secret is dead with the commit. @throws AdminRefusal */
export async function rotateKey(
  db: Db,
  by: ChangedBy,
  pepper: string,
  id: string,
): Promise<KeyWithSecret> {
  return makeChange(db, by, async (tx) => {
    const key = await requireWorkingKey(tx, id);
    if (statusOf(key) === 'expired') {
      throw new AdminRefusal(`${id} has expired, and a rotation keeps its expiry: make a new key.`);
    }
    const { secret, stored } = makeSecret(key.mode, pepper);
    const rotated = await replaceSecret(tx, id, stored);
    return {
      result: { ...presentKey(rotated), secret },
      audit: auditOf('api_key.rotate', key, rotated),
    };
  });
}

/** For good. @throws AdminRefusal when it is revoked already */
export async function revokeKey(db: Db, by: ChangedBy, id: string): Promise<ShownKey> {
  return makeChange(db, by, async (tx) => {
    const key = await requireWorkingKey(tx, id);
    const revoked = await revokeApiKey(tx, id);
    return { result: presentKey(revoked), audit: auditOf('api_key.revoke', key, revoked) };
  });
}

/** Of both modes, newest first, dead ones too. */
export async function listKeys(db: Db, accountId: string): Promise<ShownKey[]> {
  return (await listApiKeys(db, accountId)).map(presentKey);
}

function statusOf({ revokedAt, expiresAt }: ApiKey): 'working' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= new Date() ? 'expired' : 'working';
}

async function requireWorkingKey(tx: Tx, id: string): Promise<ApiKey> {
  const key = await lockApiKey(tx, id);
  if (key === null) {
    throw new AdminRefusal(`The key ${id} does not exist: \`keys list\` shows those that do.`);
  }
  if (key.revokedAt !== null) {
    throw new AdminRefusal(
      `${id} was revoked at ${key.revokedAt.toISOString()}, for good: make a new key.`,
    );
  }
  return key;
}

function makeSecret(mode: Mode, pepper: string): { secret: string; stored: StoredSecret } {
  const { secret, displayPrefix, lastFour } = makeApiKey(mode);
  return { secret, stored: { secretHash: hashApiKey(secret, pepper), displayPrefix, lastFour } };
}

function readScopes(names: readonly string[]): Scope[] {
  if (names.length === 1 && names[0] === 'all') return [...SCOPES];
  const unknown = names.find((name) => !SCOPES.some((scope) => scope === name));
  if (unknown !== undefined || names.length === 0) {
    throw new InvalidInput(
      'scopes',
      `"${unknown ?? ''}" is no scope: write all, or some of ${SCOPES.join(', ')}.`,
    );
  }
  return SCOPES.filter((scope) => names.includes(scope));
}

function readRate(rate = REQUESTS_PER_MINUTE): number {
  if (Number.isInteger(rate) && rate >= 1 && rate <= REQUESTS_PER_MINUTE_MAX) return rate;
  throw new InvalidInput(
    'rate',
    `${rate} is not possible: a key takes 1 to ${REQUESTS_PER_MINUTE_MAX} requests a minute.`,
  );
}

function auditOf(action: string, before: ApiKey | null, after: ApiKey): AuditedObject {
  return {
    action,
    object: 'api_key',
    objectId: after.id,
    accountId: after.accountId,
    before: before === null ? null : presentKey(before),
    after: presentKey(after),
  };
}
