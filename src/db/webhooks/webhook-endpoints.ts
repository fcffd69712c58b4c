/**
 * Webhook endpoints: where a merchant receives the events of one mode, and their signing secret.
 */
import type { Owner } from '../../domain/mode';
import type { Signature } from '../../domain/webhook-endpoint';
import type { SealedSecret } from '../../platform/lib/secret-box';
import type { Db, Reader, Tx } from '../transaction';
import { type ListPage, newestFirst, ownedBy, type Page } from '../lists';
import { changeRow, findRow, insertRow, now, rowsOf } from '../models';
import type { SlotOrder } from './webhook-attempts';

/** An endpoint as stored, without its secret. */
export interface WebhookEndpoint extends Owner {
  id: string;
  url: string;
  description: string | null;
  /** Null means all event types. */
  events: string[] | null;
  signature: Signature;
  enabled: boolean;
  timeoutsInARow: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

const Endpoints = rowsOf<WebhookEndpoint>('webhook_endpoints', {
  read: `id, account_id, mode, url, description, events, signature, enabled, timeouts_in_a_row, created_at,
    updated_at, deleted_at`,
  writes: `id, account_id, mode, url, description, events, signature, enabled, secret_sealed,
    secret_key_id, timeouts_in_a_row, updated_at, deleted_at`,
});

export type NewWebhookEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'accountId' | 'mode' | 'url' | 'description' | 'events' | 'signature'
>;

export function insertEndpoint(
  tx: Tx,
  endpoint: NewWebhookEndpoint,
  { sealed, keyId }: SealedSecret,
): Promise<WebhookEndpoint> {
  return insertRow(tx, Endpoints, { ...endpoint, secretSealed: sealed, secretKeyId: keyId });
}

/** Locks the endpoint until the transaction ends; null when it was deleted. */
export function lockEndpoint(tx: Tx, id: string): Promise<WebhookEndpoint | null> {
  return findRow(tx, Endpoints, { id, deletedAt: null }, 'FOR NO KEY UPDATE');
}

/** Includes deleted endpoints. */
export function findEndpoint(db: Reader, id: string): Promise<WebhookEndpoint | null> {
  return findRow(db, Endpoints, { id });
}

/** The endpoints of both modes that are not deleted, oldest first. */
export async function listEndpoints(db: Reader, accountId: string): Promise<WebhookEndpoint[]> {
  return db.query<WebhookEndpoint>(
    `SELECT ${Endpoints.read} FROM webhook_endpoints
      WHERE account_id = ? AND deleted_at IS NULL ORDER BY created_at, id`,
    [accountId],
  );
}

/** The endpoints of one mode that are not deleted, newest first. */
export function listEndpointsByPage(
  db: Reader,
  query: Owner & Page,
): Promise<ListPage<WebhookEndpoint>> {
  return newestFirst(db, Endpoints, query, [ownedBy(query), ['deleted_at IS NULL']]);
}

/** Saves an endpoint. A new URL, or enabling the endpoint again, resets the count of timeouts. */
export function saveEndpoint(tx: Tx, endpoint: WebhookEndpoint): Promise<WebhookEndpoint> {
  const { id, url, description, events, signature, enabled, deletedAt } = endpoint;
  const change = { url, description, events, signature, enabled, deletedAt };
  return changeRow(tx, Endpoints, id, { ...change, timeoutsInARow: 0, updatedAt: now });
}

/** Replaces the secret. Every attempt after the commit signs with the new one. */
export function replaceEndpointSecret(
  tx: Tx,
  id: string,
  { sealed, keyId }: SealedSecret,
): Promise<WebhookEndpoint> {
  const change = { secretSealed: sealed, secretKeyId: keyId, updatedAt: now };
  return changeRow(tx, Endpoints, id, change);
}

/** The current secret, locked so that a roll waits until this transaction ends. */
export async function lockEndpointSecret(tx: Tx, id: string): Promise<SealedSecret> {
  const [secret] = await tx.query<SealedSecret>(
    `SELECT secret_sealed AS sealed, secret_key_id AS key_id FROM webhook_endpoints
      WHERE id = ? FOR NO KEY UPDATE`,
    [id],
  );
  if (secret === undefined) throw new Error(`endpoint ${id} does not exist`);
  return secret;
}

/** Locks and returns some secrets that are encrypted with another key, to encrypt them again. */
export async function lockSecretsOfOtherKeys(
  tx: Tx,
  keyId: string,
  limit: number,
): Promise<(SealedSecret & { id: string })[]> {
  return tx.query(
    `SELECT id, secret_sealed AS sealed, secret_key_id AS key_id FROM webhook_endpoints
      WHERE secret_key_id <> ? ORDER BY id LIMIT ? FOR NO KEY UPDATE`,
    [keyId, limit],
  );
}

/** Counts the secrets and beneficiaries by the key that they are encrypted with. */
export async function countSecretsByKey(db: Db): Promise<{ keyId: string; secrets: number }[]> {
  return db.query(
    `SELECT key_id, count(*)::int AS secrets
       FROM (SELECT secret_key_id AS key_id FROM webhook_endpoints
             UNION ALL SELECT sealed_key_id FROM chat_webhooks
             UNION ALL SELECT key_id FROM totp_secrets
             UNION ALL SELECT key_id FROM payout_beneficiaries WHERE sealed IS NOT NULL) AS sealed
      GROUP BY key_id ORDER BY key_id`,
  );
}

/** Releases the slot of an attempt and counts consecutive timeouts, when their count changes. */
export function noteAttemptEnded(tx: Tx, { endpointId, key }: SlotOrder, timedOut: boolean): void {
  tx.sendWithNext(
    `WITH released AS (
       UPDATE webhook_slots SET holder = NULL WHERE endpoint_id = ? AND holder = ?
     ) ${
       timedOut
         ? 'UPDATE webhook_endpoints SET timeouts_in_a_row = timeouts_in_a_row + 1 WHERE id = ?'
         : `UPDATE webhook_endpoints SET timeouts_in_a_row = 0
             WHERE id = ? AND timeouts_in_a_row > 0`
     }`,
    [endpointId, key, endpointId],
  );
}
