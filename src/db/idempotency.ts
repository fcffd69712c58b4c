/**
 * Idempotency records (decisions/api#idempotency). A claim gives one request the right to create one
 * object until its lease ends. The transaction that creates the object turns the claim into the
 * stored response. An ended claim is fenced: a new claim has a new object id, and without a record
 * nothing can be created under the old id.
 */
import type { SealedBeneficiary } from '../domain/beneficiary';
import type { Mode, Owner } from '../domain/mode';
import type { Amount } from '../domain/money';
import type { ChosenRoute } from '../domain/route';
import type { Db, Tx, Reader } from './transaction';

/**
 * The lease is longer than the API waits for a response, so that a response cannot follow a takeover.
 */
const LEASE_SECONDS = 30;
const KEEP_HOURS = 24;

/** A record is deleted this long after it can be taken over, so that the two cannot overlap. */
const GRACE_HOURS = 1;

/** An idempotency key in its account and mode. */
export interface ClaimKey extends Owner {
  key: string;
}

/** The hash of a parsed request, and those that it has with earlier keys. */
export type BodyHashes = readonly [Buffer, ...Buffer[]];

/** The route that the API chose for the request, which the workflow's input cannot change. */
export interface ClaimedRoute extends ChosenRoute {
  /** The network fee; null for a payment. */
  networkFee: Amount | null;
  /** The time since when the recipient had the destination that the route was chosen for. */
  recipientSince?: string;
  /** The beneficiary, encrypted for the object of the claim. */
  beneficiary?: SealedBeneficiary;
}

/** The routes that the API chose for a batch, one for each row. */
export interface ClaimedRoutes {
  rows: ClaimedRoute[];
}

/** The parts of the request that the creating transaction needs. */
export interface ClaimedRequest<Request extends object, Route = ClaimedRoute> {
  apiKeyId: string;
  request: Request;
  route: Route;
}

/** A key that has a claim or a stored response. */
export type HeldKey =
  | { kind: 'done'; status: number; body: Buffer }
  | { kind: 'running'; secondsLeft: number }
  | { kind: 'reused' };

/**
 * SQL over a record k: whether its claim or its stored response has ended, so that the key can be
 * claimed again.
 */
const HAS_ENDED = `(
  (k.state = 'running' AND k.lease_until <= clock_timestamp())
  OR (k.state = 'done' AND k.completed_at <= clock_timestamp() - interval '${KEEP_HOURS} hours'))`;

/**
 * Claims a key, without waiting until the claim is on disk or on a standby: the transaction that
 * creates the object locks the claim and waits for both. A claim that a crash of PostgreSQL loses has
 * ended like any other, and nothing can be created under it.
 */
export async function claimKey(
  db: Db,
  { accountId, mode, key }: ClaimKey,
  claim: { objectId: string; bodyHashes: BodyHashes; claimed: ClaimedRequest<object, object> },
): Promise<HeldKey | { kind: 'claimed' }> {
  const { objectId, bodyHashes, claimed } = claim;
  const taken = await db.prepared(
    `INSERT INTO idempotency_keys AS k
            (account_id, mode, key, body_hash, object_id, state, lease_until, request)
     VALUES (?, ?, ?, ?, ?, 'running', clock_timestamp() + ? * interval '1 second', ?)
     ON CONFLICT (account_id, mode, key) DO UPDATE
        SET body_hash = excluded.body_hash, object_id = excluded.object_id, state = 'running',
            lease_until = excluded.lease_until, request = excluded.request,
            response_status = NULL, response_body = NULL, completed_at = NULL
      WHERE ${HAS_ENDED}
     -- The setting lasts until the end of this statement's own transaction.
     RETURNING set_config('synchronous_commit', 'off', true)`,
    [accountId, mode, key, bodyHashes[0], objectId, LEASE_SECONDS, JSON.stringify(claimed)],
  );
  if (taken.length > 0) return { kind: 'claimed' };
  const held = await readHeldKey(db, { accountId, mode, key }, bodyHashes);
  // The claim was refused and deleted in between, so the client's next attempt can claim the key.
  return held ?? { kind: 'running', secondsLeft: 1 };
}

/** The claim or stored response of a key; null when the key can be claimed. */
export async function readHeldKey(
  db: Reader,
  key: ClaimKey,
  bodyHashes: BodyHashes,
): Promise<HeldKey | null> {
  const [held] = await db.prepared<{
    bodyHash: Buffer;
    state: 'running' | 'done';
    secondsLeft: number;
    responseStatus: number | null;
    responseBody: Buffer | null;
  }>(
    `SELECT body_hash, state, response_status, response_body,
            greatest(1, ceil(extract(epoch FROM lease_until - clock_timestamp())))::int
              AS seconds_left
       FROM idempotency_keys k
      WHERE account_id = ? AND mode = ? AND key = ? AND NOT ${HAS_ENDED}`,
    [key.accountId, key.mode, key.key],
  );
  if (held === undefined) return null;
  if (!bodyHashes.some((hash) => held.bodyHash.equals(hash))) return { kind: 'reused' };
  if (held.responseStatus === null || held.responseBody === null) {
    return { kind: 'running', secondsLeft: held.secondsLeft };
  }
  return { kind: 'done', status: held.responseStatus, body: held.responseBody };
}

/** Ends a claim without an object; false when the object exists or the claim was taken over. */
export async function releaseClaim(db: Db | Tx, objectId: string): Promise<boolean> {
  const deleted = await db.prepared(
    `DELETE FROM idempotency_keys WHERE object_id = ? AND state = 'running' RETURNING object_id`,
    [objectId],
  );
  return deleted.length > 0;
}

/** A claim that a transaction holds. */
export interface HeldClaim<Request extends object, Route = ClaimedRoute>
  extends ClaimedRequest<Request, Route>, Owner {}

/** Takes the claim for the transaction that creates the object. Null when the claim has ended. */
export async function lockClaim<Request extends object, Route = ClaimedRoute>(
  tx: Tx,
  objectId: string,
): Promise<HeldClaim<Request, Route> | null> {
  return findClaim(tx, objectId, 'FOR UPDATE');
}

/** Turns the claim into the stored response, in the transaction that creates the object. */
export async function storeResponse(
  tx: Tx,
  objectId: string,
  response: { status: number; body: Buffer },
): Promise<void> {
  await tx.query(
    `UPDATE idempotency_keys
        SET state = 'done', request = NULL, completed_at = clock_timestamp(),
            response_status = ?, response_body = ? WHERE object_id = ?`,
    [response.status, response.body, objectId],
  );
}

/** The response that the creating transaction stored, or null. */
export async function readStoredResponse(
  db: Db,
  objectId: string,
): Promise<{ status: number; body: Buffer } | null> {
  const [row] = await db.prepared<{ status: number; body: Buffer }>(
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
  // Each half uses an index, for which the condition needs now(): clock_timestamp() cannot be in an
  // index condition.
  const deleted = await db.query(
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
      -- An array is looked up by the index. Without statistics, a join may compare all rows with all.
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

async function findClaim<Request extends object, Route = ClaimedRoute>(
  db: Db | Tx,
  objectId: string,
  lock: 'FOR UPDATE' | '',
): Promise<HeldClaim<Request, Route> | null> {
  const [claim] = await db.prepared<{
    accountId: string;
    mode: Mode;
    request: ClaimedRequest<Request, Route>;
  }>(
    `SELECT account_id, mode, request FROM idempotency_keys
      WHERE object_id = ? AND state = 'running' AND lease_until > clock_timestamp() ${lock}`,
    [objectId],
  );
  return claim === undefined
    ? null
    : { accountId: claim.accountId, mode: claim.mode, ...claim.request };
}
