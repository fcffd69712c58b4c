/**
 * API keys (decisions/keys#api-keys): the changes of the dashboard's pages, of the API
 * (keys-by-api.ts) and of `admin keys`, and how a key is shown. A secret is returned once. The
 * database stores only its hash, and the audit log neither.
 */
import { appendAudit } from '../../db/audit/audit-log';
import {
  allowsLiveKeysByApi,
  type ApiKey,
  countWorkingKeys,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  replaceSecret,
  revokeApiKey,
  revokeKeysMadeBy,
  saveApiKey,
  saveLiveKeysByApi,
  type StoredSecret,
} from '../../db/api-keys/api-keys';
import { saveKeyMaker } from '../../db/approvals/second-person';
import type { Db, Tx } from '../../db/transaction';
import { apiKeyStatus } from '../../domain/api-key';
import type { Mode, Owner } from '../../domain/mode';
import { hashApiKey, makeApiKey, pepperIdOf } from '../../platform/lib/api-key-secret';
import { newId } from '../../platform/lib/new-id';
import { requireLockedAccount } from '../accounts/accounts';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import type { ChangedBy } from '../../kit/service/audit';
import { auditOf, Choice, defineChange } from '../../kit/service/change';
import { presentKey } from './api-keys-contract';
import { findOwn, listOwn } from '../../kit/service/own';
import { type KeyRights, PREPARE, readRules, readSettings, RULES, SETTINGS } from './key-rights';

/** The maximum per account and mode; revoked and expired keys do not count. */
export const KEYS_MAX = 50;

/** Keys of live mode move real money, so they need more than those of test mode. */
const access = { needs: 'integrate', liveNeeds: 'manage' } as const;

interface OneKey {
  id: string;
  pepper: string;
}

/** A request of the API brings the id, and the key that makes the new one with the check of what it may give. */
type NewKey = Owner &
  Pick<OneKey, 'pepper'> & {
    id?: string;
    madeBy?: { key: ApiKey; allow: (tx: Tx, rights: KeyRights) => Promise<void> };
  };

/** @throws AdminRefusal for a live key of an account that is not verified, and for one key too many */
export const createKey = defineChange({
  action: 'api_key.create',
  access,
  fields: { ...SETTINGS, ...RULES },
  prepare: PREPARE,
  run: async (tx, subject: NewKey, input, by) => {
    const { accountId, mode, pepper, madeBy } = subject;
    const rights = { ...(await readSettings(tx, input)), ...(await readRules(tx, input)) };
    await madeBy?.allow(tx, rights);
    // The account is locked, so that two keys at the same time count each other.
    const account = await requireLockedAccount(tx, accountId);
    if (mode === 'live' && account.verifiedAt === null) {
      throw new AdminRefusal({ code: 'account_not_verified', id: accountId });
    }
    if ((await countWorkingKeys(tx, accountId, mode)) >= KEYS_MAX) {
      throw new AdminRefusal({ code: 'too_many_keys', accountId, mode, max: KEYS_MAX });
    }
    const { secret, stored } = makeSecret(mode, pepper);
    const key = await insertApiKey(tx, {
      ...stored,
      id: subject.id ?? newId('apiKey'),
      accountId,
      mode,
      ...rights,
      createdByKey: madeBy?.key.id ?? null,
    });
    await noteMaker(tx, key.id, by);
    return { result: { ...key, secret }, audit: auditOf(presentKeyForOperator, null, key) };
  },
});

/** Gives a key a new secret with the same settings; the old secret stops working at once. */
export const rotateKey = defineChange({
  action: 'api_key.rotate',
  access,
  fields: {},
  run: async (tx, { id, pepper }: OneKey, _input, by) => {
    const key = await requireUnexpiredKey(tx, id);
    const { secret, stored } = makeSecret(key.mode, pepper);
    const rotated = await replaceSecret(tx, id, stored);
    await noteMaker(tx, id, by);
    return { result: { ...rotated, secret }, audit: auditOf(presentKeyForOperator, key, rotated) };
  },
});

/** Replaces the settings of a key, from its next request on. The keys that it has made keep theirs. */
export const editKey = defineChange({
  action: 'api_key.edit',
  access,
  fields: SETTINGS,
  prepare: { allow: PREPARE.allow, expires: PREPARE.expires },
  run: async (tx, { id }: Pick<OneKey, 'id'>, input, by) => {
    const key = await requireUnexpiredKey(tx, id);
    // There is one generation of keys: a revocation reaches the keys that the key has made, and no further.
    if (key.createdByKey !== null && input.scopes.includes('api_keys:write')) {
      throw new InvalidInput('scopes', { code: 'made_by_key' });
    }
    const edited = await saveApiKey(tx, id, await readSettings(tx, input));
    await noteMaker(tx, id, by);
    return { result: edited, audit: auditOf(presentKeyForOperator, key, edited) };
  },
});

/** Replaces the rules for the key's payouts: what is left out is not limited. */
export const limitKey = defineChange({
  action: 'api_key.limit',
  access,
  fields: RULES,
  prepare: { payoutMax: PREPARE.payoutMax, dailyMax: PREPARE.dailyMax },
  run: async (tx, { id }: Pick<OneKey, 'id'>, input, by) => {
    const key = await requireWorkingKey(tx, id);
    const limited = await saveApiKey(tx, id, await readRules(tx, input));
    await noteMaker(tx, id, by);
    return { result: limited, audit: auditOf(presentKeyForOperator, key, limited) };
  },
});

/** The key has the line of the person until another one approves it (decisions/controls#second-person). */
async function noteMaker(tx: Tx, id: string, { via, actor }: ChangedBy): Promise<void> {
  if (via === 'dashboard') await saveKeyMaker(tx, id, actor);
}

/** Revokes a key and the keys that it has made, permanently. */
export const revokeKey = defineChange({
  action: 'api_key.revoke',
  access,
  fields: {},
  run: async (tx, { id }: Pick<OneKey, 'id'>, _input, by) => {
    const key = await requireWorkingKey(tx, id);
    const revoked = await revokeApiKey(tx, id);
    for (const made of await revokeKeysMadeBy(tx, key)) {
      const audit = auditOf(presentKeyForOperator, { ...made, revokedAt: null }, made);
      await appendAudit(tx, { ...by, action: 'api_key.revoke', ...audit });
    }
    return { result: revoked, audit: auditOf(presentKeyForOperator, key, revoked) };
  },
});

/** Whether live keys of the account are made and rolled by API (decisions/keys#keys-by-api). */
export const setLiveKeysByApi = defineChange({
  action: 'account.live_keys_by_api',
  access: { needs: 'manage' },
  fields: {
    byApi: Choice(
      [
        ['no', 'By people on the dashboard only'],
        ['yes', 'Also by API keys with the scope api_keys:write'],
      ],
      { label: 'Live keys are created' },
    ),
  },
  run: async (tx, { accountId }: Pick<Owner, 'accountId'>, { byApi }) => {
    await requireLockedAccount(tx, accountId);
    const present = (allowed: boolean) => ({
      object: 'account',
      live_keys_by_api: allowed ? 'yes' : 'no',
    });
    const before = await allowsLiveKeysByApi(tx, accountId);
    await saveLiveKeysByApi(tx, accountId, byApi === 'yes');
    const result = { id: accountId, ...present(byApi === 'yes') };
    const of = { object: 'account', objectId: accountId, accountId };
    return { result, audit: { ...of, before: present(before), after: present(byApi === 'yes') } };
  },
});

/** The setting in the form of the page's field, `yes` or `no`. */
export async function readLiveKeysByApi(db: Db, accountId: string): Promise<'yes' | 'no'> {
  return (await allowsLiveKeysByApi(db, accountId)) ? 'yes' : 'no';
}

/** The keys of both modes, newest first, including revoked and expired ones. */
export const listKeys = listApiKeys;

export function listOwnKeys(db: Db, owner: Owner): Promise<ApiKey[]> {
  return listOwn(db, owner, listApiKeys);
}

/** @throws AdminRefusal */
export function findOwnKey(db: Db, owner: Owner, id: string): Promise<ApiKey> {
  return findOwn(db, owner, 'api_key', id, async (reader) => {
    const keys = await listApiKeys(reader, owner.accountId);
    return keys.find((key) => key.id === id) ?? null;
  });
}

/** A key as operators and the audit log see it. */
export function presentKeyForOperator(key: ApiKey) {
  const { accountId, lastUsedAddress } = key;
  return { ...presentKey(key), account_id: accountId, last_used_address: lastUsedAddress };
}

/** @throws AdminRefusal */
export async function requireWorkingKey(tx: Tx, id: string): Promise<ApiKey> {
  const key = await lockApiKey(tx, id);
  if (key === null) throw new AdminRefusal({ code: 'not_found', object: 'api_key', id });
  if (key.revokedAt === null) return key;
  throw new AdminRefusal({ code: 'api_key_revoked', id, revokedAt: key.revokedAt });
}

/** Neither a new secret nor an edit brings an expired key back. @throws AdminRefusal */
async function requireUnexpiredKey(tx: Tx, id: string): Promise<ApiKey> {
  const key = await requireWorkingKey(tx, id);
  if (apiKeyStatus(key, new Date()) !== 'expired') return key;
  throw new AdminRefusal({ code: 'api_key_expired', id });
}

function makeSecret(mode: Mode, pepper: string): { secret: string; stored: StoredSecret } {
  const { secret, displayPrefix, lastFour } = makeApiKey(mode);
  const secretHash = hashApiKey(secret, pepper);
  return { secret, stored: { secretHash, pepperId: pepperIdOf(pepper), displayPrefix, lastFour } };
}
