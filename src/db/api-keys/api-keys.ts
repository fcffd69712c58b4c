/** API keys: authentication by `authenticate_api_key`, and operator changes. */
import type { KeyLimit } from '../../domain/limits';
import type { Mode, Owner } from '../../domain/mode';
import type { Scope } from '../../domain/scopes';
import type { Db, Reader, Tx } from '../transaction';
import { type ListPage, newestFirst, ownedBy, type Page } from '../lists';
import { changeRow, findRow, insertRow, now, rowsOf } from '../models';

/** A key that a request has used, with the counts of its minute. */
export interface KeyUse extends Owner {
  apiKeyId: string;
  scopes: Scope[];
  accountStatus: 'active' | 'suspended';
  addressAllowed: boolean;
  requestsPerMinute: number;
  /**
   * The number of requests in this minute, with this one; 0 when the account or the address was
   * refused.
   */
  requests: number;
  secondsLeft: number;
}

/** A key that somebody sent, with its hash by each pepper that is accepted. */
export interface SentKey {
  key: string;
  current: Buffer;
  next: Buffer | null;
  /** Hashes by earlier peppers, which `current` replaces when the key is used. */
  earlier: Buffer[];
  /** The client's address; null when it is unknown. No allowlist contains null. */
  address: string | null;
}

/**
 * Finds the keys of several requests by their hashes, counts the requests and notes the use, in one
 * statement.
 * @param pepperId the id of the pepper of `current`
 * @returns the keys in the order of the requests; null for a key that does not exist, is revoked or
 *   expired
 */
export async function authenticateKeys(
  db: Reader,
  pepperId: string,
  keys: readonly SentKey[],
): Promise<(KeyUse | null)[]> {
  // Every process locks the counters in this order, whatever its pepper, so that no two wait for each
  // other.
  const sorted = [...keys].sort((a, b) => (a.key < b.key ? -1 : 1));
  // Every key has the same number of earlier hashes, one for each earlier pepper of the process.
  const earlier = sorted[0]?.earlier.length ?? 0;
  const uses = await db.query<KeyUse & { place: number }>(
    `SELECT q.place, api_key_id, account_id, mode, scopes, account_status, address_allowed,
            requests_per_minute, requests, seconds_left
       FROM (SELECT current, next, address, place::int
               FROM unnest(?::bytea[], ?::bytea[], ?::inet[])
                    WITH ORDINALITY AS u (current, next, address, place)) AS q,
            authenticate_api_key(q.current, ?, q.next,
              (?::bytea[])[(q.place - 1) * ?::int + 1 : q.place * ?::int], q.address)`,
    [
      sorted.map(({ current }) => current),
      sorted.map(({ next }) => next),
      sorted.map(({ address }) => address),
      pepperId,
      // The array is flat, because PostgreSQL 15 refuses an array of empty arrays.
      sorted.flatMap((key) => key.earlier),
      earlier,
      earlier,
    ],
  );
  const byKey = new Map(uses.map(({ place, ...use }) => [sorted[place - 1], use]));
  return keys.map((key) => byKey.get(key) ?? null);
}

/** A key as an operator sees it. */
export interface ApiKey extends Owner {
  id: string;
  name: string;
  displayPrefix: string;
  lastFour: string;
  scopes: Scope[];
  /** Networks in CIDR notation; empty means every address. */
  allowlist: string[];
  requestsPerMinute: number;
  /** Whether its payouts must name a recipient. */
  recipientsOnly: boolean;
  /** Empty means every currency. */
  payoutCurrencies: string[];
  /** The limits of the key, by currency. */
  payoutLimits: Record<string, KeyLimit>;
  /** Null if a person made it. */
  createdByKey: string | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
  lastUsedAt: Date | null;
  lastUsedAddress: string | null;
}

/** The columns that change when a key gets a new secret. */
export interface StoredSecret {
  secretHash: Buffer;
  pepperId: string;
  displayPrefix: string;
  lastFour: string;
}

const ApiKeys = rowsOf<ApiKey>('api_keys', {
  read: `id, account_id, mode, name, display_prefix, last_four, scopes, allowlist, requests_per_minute,
    recipients_only, payout_currencies, payout_limits, created_by_key, expires_at, revoked_at, created_at,
    last_used_at, host(last_used_address) AS last_used_address`,
  json: ['payoutLimits'],
  writes: `id, account_id, mode, name, secret_hash, pepper_id, display_prefix, last_four, scopes,
    allowlist, requests_per_minute, recipients_only, payout_currencies, payout_limits, created_by_key,
    expires_at, revoked_at, secret_changed_at`,
});

/** The rules for the payouts of a key. */
export type KeyRules = Pick<ApiKey, 'recipientsOnly' | 'payoutCurrencies' | 'payoutLimits'>;

/** The settings of a key beside the rules for its payouts. */
export type KeySettings = Pick<
  ApiKey,
  'name' | 'scopes' | 'allowlist' | 'requestsPerMinute' | 'expiresAt'
>;

/** A key to insert. */
export type NewApiKey = StoredSecret &
  KeySettings &
  KeyRules &
  Pick<ApiKey, 'id' | 'accountId' | 'mode' | 'createdByKey'>;

export function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKey> {
  return insertRow(tx, ApiKeys, key);
}

/** Locks the key's row, so that concurrent rotations run one after the other. */
export function lockApiKey(tx: Tx, id: string): Promise<ApiKey | null> {
  return findRow(tx, ApiKeys, { id }, 'FOR NO KEY UPDATE');
}

/** Replaces the secret. After the commit no row has the old one, so it stops working at once. */
export function replaceSecret(tx: Tx, id: string, secret: StoredSecret): Promise<ApiKey> {
  return changeRow(tx, ApiKeys, id, { ...secret, secretChangedAt: now });
}

export function saveApiKey(tx: Tx, id: string, change: KeyRules | KeySettings): Promise<ApiKey> {
  return changeRow(tx, ApiKeys, id, change);
}

export function revokeApiKey(tx: Tx, id: string): Promise<ApiKey> {
  return changeRow(tx, ApiKeys, id, { revokedAt: now });
}

/** Revokes the working keys that a key has made. */
export async function revokeKeysMadeBy(tx: Tx, { accountId, id }: ApiKey): Promise<ApiKey[]> {
  return tx.query<ApiKey>(
    `UPDATE api_keys SET revoked_at = clock_timestamp()
      WHERE account_id = ? AND created_by_key = ? AND revoked_at IS NULL RETURNING ${ApiKeys.read}`,
    [accountId, id],
  );
}

/** Counts the keys of an account in a mode that work: revoked and expired ones are left out. */
export async function countWorkingKeys(tx: Tx, accountId: string, mode: Mode): Promise<number> {
  const [found] = await tx.query<{ keys: number }>(
    `SELECT count(*)::int AS keys FROM api_keys
      WHERE account_id = ? AND mode = ? AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now())`,
    [accountId, mode],
  );
  return found?.keys ?? 0;
}

/**
 * Counts the accepted keys by the pepper that they are hashed with; null if a key was not used since it
 * was stored.
 */
export async function countKeysByPepper(
  db: Db,
): Promise<{ pepperId: string | null; keys: number; lastUsedAt: Date | null }[]> {
  return db.query(
    `SELECT pepper_id, count(*)::int AS keys, max(last_used_at) AS last_used_at FROM api_keys
      WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      GROUP BY pepper_id ORDER BY pepper_id`,
  );
}

/** The account's keys of both modes, newest first. */
export async function listApiKeys(db: Reader, accountId: string): Promise<ApiKey[]> {
  return db.query<ApiKey>(
    `SELECT ${ApiKeys.read} FROM api_keys WHERE account_id = ? ORDER BY created_at DESC, id DESC`,
    [accountId],
  );
}

/** The keys of one mode, newest first. */
export function listApiKeysByPage(db: Reader, query: Owner & Page): Promise<ListPage<ApiKey>> {
  return newestFirst(db, ApiKeys, query, [ownedBy(query)]);
}

export function findApiKey(db: Reader, id: string): Promise<ApiKey | null> {
  return findRow(db, ApiKeys, { id });
}

/** The networks that are in none of the others. */
export async function networksOutside(
  db: Db | Tx,
  networks: readonly string[],
  others: readonly string[],
): Promise<string[]> {
  const found = await db.query<{ network: string }>(
    `SELECT network::text FROM unnest(?::cidr[]) AS network
      WHERE NOT EXISTS (SELECT FROM unnest(?::cidr[]) AS other WHERE network <<= other)`,
    [[...networks], [...others]],
  );
  return found.map(({ network }) => network);
}

/** Whether live keys of the account are made and rolled by API. */
export async function allowsLiveKeysByApi(db: Reader, accountId: string): Promise<boolean> {
  const sql = 'SELECT live_keys_by_api AS allowed FROM accounts WHERE id = ?';
  const [found] = await db.query<{ allowed: boolean }>(sql, [accountId]);
  return found?.allowed === true;
}

/** Locks the account until the transaction ends. */
export async function saveLiveKeysByApi(
  tx: Tx,
  accountId: string,
  allowed: boolean,
): Promise<void> {
  await tx.query('UPDATE accounts SET live_keys_by_api = ? WHERE id = ?', [allowed, accountId]);
}

/**
 * The network of each address with a prefix length, calculated by PostgreSQL, which also compares
 * requests with the allowlist.
 * @param addresses valid for `inet`: 10.1.2.3/8
 */
export async function networksOf(
  db: Db | Tx,
  addresses: readonly string[],
): Promise<{ given: string; network: string; hasHostBits: boolean }[]> {
  return db.query(
    `SELECT given, network(given::inet)::text AS network,
            host(given::inet) <> host(network(given::inet)) AS has_host_bits
       FROM unnest(?::text[]) AS given`,
    [[...addresses]],
  );
}
