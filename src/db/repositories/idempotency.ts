/**
 * Idempotency records (decisions I1 to I3). A claim gives one request the right to create one
 * object until its lease ends. The transaction that creates the object turns the claim into the
 * stored response. An ended claim is fenced: a new claim has a new object id, and without a record
 * nothing can be created under the old id.
 */
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ChosenRoute } from '../../domain/route';
import { preparedRows, rows, type Db, type Tx } from '../transaction';

/** Longer than the API waits for a response, so that a response cannot follow a takeover. */
const LEASE_SECONDS = 30;
const KEEP_HOURS = 24;

/** A record is deleted this long after it can be taken over, so that the two cannot overlap. */
const GRACE_HOURS = 1;

export interface ClaimKey {
  accountId: string;
  mode: Mode;
  key: string;
}

/** What the creating transaction needs from the request. */
export interface ClaimedRequest<Request extends object> {
  apiKeyId: string;
  request: Request;
}

/** What the API chose for the request: the workflow's input cannot change it. */
export interface ClaimedRoute extends ChosenRoute {
  /** Null for a payment. */
  networkFee: Amount | null;
}

export type ClaimResult =
  | { kind: 'claimed' }
  | { kind: 'done'; status: number; body: Buffer }
  | { kind: 'running'; secondsLeft: number }
  | { kind: 'reused' };

/** @param bodyHash hash of the parsed request, so that its formatting does not matter */
export async function claimKey(
  db: Db,
  { accountId, mode, key }: ClaimKey,
  claim: { objectId: string; bodyHash: Buffer; claimed: ClaimedRequest<object> },
): Promise<ClaimResult> {
  const { objectId, bodyHash, claimed } = claim;
  const taken = await preparedRows(
    db,
    `INSERT INTO idempotency_keys AS k
            (account_id, mode, key, body_hash, object_id, state, lease_until, request)
     VALUES (?, ?, ?, ?, ?, 'running', clock_timestamp() + ? * interval '1 second', ?)
     ON CONFLICT (account_id, mode, key) DO UPDATE
        SET body_hash = excluded.body_hash, object_id = excluded.object_id, state = 'running',
            lease_until = excluded.lease_until, request = excluded.request,
            response_status = NULL, response_body = NULL, completed_at = NULL
      WHERE (k.state = 'running' AND k.lease_until <= clock_timestamp())
         OR (k.state = 'done' AND k.completed_at <= clock_timestamp() - ? * interval '1 hour')
     RETURNING object_id`,
    [accountId, mode, key, bodyHash, objectId, LEASE_SECONDS, JSON.stringify(claimed), KEEP_HOURS],
  );
  if (taken.length > 0) return { kind: 'claimed' };
  return readHeldKey(db, { accountId, mode, key }, bodyHash);
}

async function readHeldKey(db: Db, key: ClaimKey, bodyHash: Buffer): Promise<ClaimResult> {
  const [held] = await rows<{
    bodyHash: Buffer;
    state: 'running' | 'done';
    secondsLeft: number;
    responseStatus: number | null;
    responseBody: Buffer | null;
  }>(
    db,
    `SELECT body_hash, state, response_status, response_body,
            greatest(1, ceil(extract(epoch FROM lease_until - clock_timestamp())))::int
              AS seconds_left
       FROM idempotency_keys WHERE account_id = ? AND mode = ? AND key = ?`,
    [key.accountId, key.mode, key.key],
  );
  // It was refused and deleted in between: the client's next attempt can claim the key.
  if (held === undefined) return { kind: 'running', secondsLeft: 1 };
  if (!held.bodyHash.equals(bodyHash)) return { kind: 'reused' };
  if (held.responseStatus === null || held.responseBody === null) {
    return { kind: 'running', secondsLeft: held.secondsLeft };
  }
  return { kind: 'done', status: held.responseStatus, body: held.responseBody };
}

/** Ends a claim without an object; false when the object exists or the claim was taken over. */
export async function releaseClaim(db: Db | Tx, objectId: string): Promise<boolean> {
  const deleted = await preparedRows(
    db,
    `DELETE FROM idempotency_keys WHERE object_id = ? AND state = 'running' RETURNING object_id`,
    [objectId],
  );
  return deleted.length > 0;
}

/** Stores the route with the claim, before the workflow is started. */
export async function storeRoute(db: Db, objectId: string, route: ClaimedRoute): Promise<void> {
  await preparedRows(
    db,
    `UPDATE idempotency_keys SET request = request || jsonb_build_object('route', ?::jsonb)
      WHERE object_id = ? AND state = 'running'`,
    [JSON.stringify(route), objectId],
  );
}

interface ReadyRequest<Request extends object> extends ClaimedRequest<Request> {
  route: ClaimedRoute;
}

export interface HeldClaim<Request extends object> extends ReadyRequest<Request> {
  accountId: string;
  mode: Mode;
}

/** Only a claim with a route: until the API has stored it, nobody may create the object. */
const CLAIM_IS_READY = `state = 'running' AND lease_until > clock_timestamp() AND request->'route' IS NOT NULL`;

/** Takes the claim for the transaction that creates the object. Null when the claim has ended. */
export async function lockClaim<Request extends object>(
  tx: Tx,
  objectId: string,
): Promise<HeldClaim<Request> | null> {
  return findClaim(tx, objectId, 'FOR UPDATE');
}

/** The response that the creating transaction stored, or null. */
export async function readStoredResponse(
  db: Db,
  objectId: string,
): Promise<{ status: number; body: Buffer } | null> {
  const [row] = await preparedRows<{ status: number; body: Buffer }>(
    db,
    `SELECT response_status AS status, response_body AS body
       FROM idempotency_keys WHERE object_id = ? AND state = 'done'`,
    [objectId],
  );
  return row ?? null;
}

/**
 * Deletes a batch of expired records: responses past their retention, and claims whose lease ended
 * long ago. Skips locked records.
 * @returns how many were deleted; fewer than `limit` when no more were found
 */
export async function deleteEndedKeys(db: Db | Tx, limit: number): Promise<number> {
  // Each half uses an index; now() can be used in an index condition, clock_timestamp() cannot.
  const deleted = await rows(
    db,
    `WITH done AS MATERIALIZED (
       SELECT object_id FROM idempotency_keys
        WHERE state = 'done' AND completed_at < now() - ? * interval '1 hour'
        ORDER BY completed_at LIMIT ? FOR UPDATE SKIP LOCKED
     ), dead AS MATERIALIZED (
       SELECT object_id FROM idempotency_keys
        WHERE state = 'running' AND lease_until < now() - ? * interval '1 hour'
        ORDER BY lease_until LIMIT greatest(0, ? - (SELECT count(*) FROM done))
          FOR UPDATE SKIP LOCKED
     )
     DELETE FROM idempotency_keys
      -- An array is looked up by the index; without statistics, a join may compare all with all.
      WHERE object_id = ANY (ARRAY(SELECT object_id FROM done UNION ALL SELECT object_id FROM dead))
     RETURNING object_id`,
    [KEEP_HOURS + GRACE_HOURS, limit, GRACE_HOURS, limit],
  );
  return deleted.length;
}

/** The claim, read without a lock; null when it has ended. */
export async function readClaim<Request extends object>(
  db: Db,
  objectId: string,
): Promise<HeldClaim<Request> | null> {
  return findClaim(db, objectId, '');
}

async function findClaim<Request extends object>(
  db: Db | Tx,
  objectId: string,
  lock: 'FOR UPDATE' | '',
): Promise<HeldClaim<Request> | null> {
  const [claim] = await preparedRows<{
    accountId: string;
    mode: Mode;
    request: ReadyRequest<Request>;
  }>(
    db,
    `SELECT account_id, mode, request FROM idempotency_keys
      WHERE object_id = ? AND ${CLAIM_IS_READY} ${lock}`,
    [objectId],
  );
  return claim === undefined
    ? null
    : { accountId: claim.accountId, mode: claim.mode, ...claim.request };
}
