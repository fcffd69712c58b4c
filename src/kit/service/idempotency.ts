/**
 * Idempotency of a request that creates an object (decisions/api#idempotency): a stored response is replayed,
 * the key is claimed before the work, and a refusal releases the key.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BodyHashes,
  type ClaimedRoute,
  claimKey,
  type HeldKey,
  readHeldKey,
  readStoredResponse,
  releaseClaim,
} from '../../db/idempotency';
import type { Db, Reader } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import type { SecretBox } from '../../platform/lib/secret-box';
import type { Caller, StoredResponse } from './services';

export interface ClaimedWork<Request extends object, Route extends object = ClaimedRoute> {
  caller: Caller;
  /** The id that the new object will have. */
  objectId: string;
  /** The path, because the same body has another meaning at another path. */
  endpoint: string;
  idempotencyKey: string;
  /** The parsed request, so that its formatting does not matter. It is stored with the claim. */
  request: Request;
  /** Personal data of the request. It is not stored, and its hash is an HMAC, so that nobody can guess it. */
  personal?: { data: object; box: Pick<SecretBox, 'fingerprints'> };
  /** The checks that need no claim. What they refuse leaves the key unused. */
  prepare(): Promise<Route>;
  /** The work under the claim. */
  create(route: Route): Promise<StoredResponse>;
}

export interface ClaimDeps {
  db: Db;
  shortStatements: Reader;
}

/**
 * A reservation takes a fraction of a second, so most clients do not have to wait for the lease.
 */
const RETRY_AFTER_S_MAX = 2;

/**
 * Creates the object under the claim, or returns the stored response of an earlier run.
 * @throws ApiError idempotency_key_reused, request_in_progress, and what the work throws
 */
export async function runClaimed<Request extends object, Route extends object = ClaimedRoute>(
  { db, shortStatements }: ClaimDeps,
  work: ClaimedWork<Request, Route>,
): Promise<StoredResponse> {
  const { caller, objectId, request } = work;
  const key = { accountId: caller.accountId, mode: caller.mode, key: work.idempotencyKey };
  const bodyHashes = hashRequest(work);
  const prepared = work.prepare();
  // A response that is stored already does not wait for the checks.
  prepared.catch(() => undefined);
  const held = await readHeldKey(shortStatements, key, bodyHashes);
  if (held !== null) return replay(held);
  let route: Route;
  try {
    route = await prepared;
  } catch (error) {
    // The same request may have created the object since, which is why these checks refused it.
    const since = await readHeldKey(db, key, bodyHashes).catch(() => null);
    if (since !== null) return replay(since);
    throw error;
  }
  const claimed = { apiKeyId: caller.apiKeyId, request, route };
  // A claim without an answer may have been committed.
  const claim = await releasedIfFailed(db, objectId, () =>
    claimKey(db, key, { objectId, bodyHashes, claimed }),
  );
  return claim.kind === 'claimed'
    ? releasedIfFailed(db, objectId, () => work.create(route))
    : replay(claim);
}

function replay(held: HeldKey): StoredResponse {
  switch (held.kind) {
    case 'done':
      return { status: held.status, body: held.body, replayed: true };
    case 'running':
      throw inProgress(held.secondsLeft);
    case 'reused':
      throw new ApiError({ code: 'idempotency_key_reused' });
  }
}

async function releasedIfFailed<T>(db: Db, objectId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Releases the key, unless the object exists after all. The original error is more useful.
    await releaseClaim(db, objectId).catch(() => void releaseLater(db, objectId));
    throw error;
  }
}

/** The waits between the attempts; together they are shorter than the lease, which ends the claim in any case. */
const RELEASE_AGAIN_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** The database was away: the client's next attempt should not wait for the lease. */
async function releaseLater(db: Db, objectId: string): Promise<void> {
  for (const ms of RELEASE_AGAIN_MS) {
    await sleep(ms, undefined, { ref: false });
    try {
      await releaseClaim(db, objectId);
      return;
    } catch {
      // The database is still away; the next attempt follows.
    }
  }
}

/** Returns the stored response, or makes sure that nothing will be created and throws. */
export async function readAnswer(db: Db, objectId: string): Promise<StoredResponse> {
  const stored = await readStoredResponse(db, objectId);
  if (stored !== null) return { ...stored, replayed: false };
  // Ending the claim first ensures that nothing is created after the client gets the error.
  if (await releaseClaim(db, objectId)) throw unavailable();
  const late = await readStoredResponse(db, objectId);
  if (late !== null) return { ...late, replayed: false };
  throw unavailable();
}

/**
 * Equivalent requests have the same hash, whatever their formatting (decisions/api#idempotency). A member that
 * is undefined counts as null, so that a memo that is absent and one that is null are the same.
 * @returns the hash to store, and those that an earlier key may have stored
 */
function hashRequest({
  endpoint,
  request,
  personal,
}: Pick<ClaimedWork<object>, 'endpoint' | 'request' | 'personal'>): BodyHashes {
  if (personal === undefined) {
    return [createHash('sha256').update(hashedText({ endpoint, request })).digest()];
  }
  return personal.box.fingerprints(hashedText({ endpoint, request, personal: personal.data }));
}

function hashedText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : (part ?? null),
  );
}

function inProgress(secondsLeft: number): ApiError {
  const seconds = Math.min(secondsLeft, RETRY_AFTER_S_MAX);
  return new ApiError({ code: 'request_in_progress' }, { 'Retry-After': seconds.toString() });
}

function unavailable(): ApiError {
  return new ApiError({
    code: 'service_unavailable',
    details: { reason: 'workflow_engine_unavailable' },
  });
}
