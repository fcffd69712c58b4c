/**
 * Idempotency of a request that creates an object (decisions I1 to I3): the key is claimed before
 * the work, a stored response is replayed, and a refusal releases the key.
 */
import { createHash } from 'node:crypto';
import { claimKey, readStoredResponse, releaseClaim } from '../db/repositories/idempotency';
import type { Db } from '../db/transaction';
import { ApiError } from '../domain/errors';
import type { Caller, StoredResponse } from './services';

export interface ClaimedWork<Request extends object> {
  caller: Caller;
  /** The id that the new object will have. */
  objectId: string;
  /** The path, because the same body has another meaning at another path. */
  endpoint: string;
  idempotencyKey: string;
  /** The parsed request, so that its formatting does not matter. */
  request: Request;
}

/**
 * A reservation takes a fraction of a second, so most clients do not have to wait for the lease.
 */
const RETRY_AFTER_S_MAX = 2;

/**
 * Runs the work under the claim, or returns the stored response of an earlier run.
 * @throws ApiError idempotency_key_reused, request_in_progress, and what the work throws
 */
export async function runClaimed<Request extends object>(
  db: Db,
  { caller, objectId, endpoint, idempotencyKey, request }: ClaimedWork<Request>,
  work: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const key = { accountId: caller.accountId, mode: caller.mode, key: idempotencyKey };
  const claim = await claimKey(db, key, {
    objectId,
    bodyHash: hashRequest(endpoint, request),
    claimed: { apiKeyId: caller.apiKeyId, request },
  });
  switch (claim.kind) {
    case 'done':
      return { status: claim.status, body: claim.body, replayed: true };
    case 'running':
      throw inProgress(claim.secondsLeft);
    case 'reused':
      throw new ApiError({ code: 'idempotency_key_reused' });
    case 'claimed':
      return runAndRelease(db, objectId, work);
  }
}

async function runAndRelease(
  db: Db,
  objectId: string,
  work: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  try {
    return await work();
  } catch (error) {
    // Releases the key, unless the object exists after all. If the database is unavailable, the
    // lease
    // ends the claim, and the original error is more useful.
    await releaseClaim(db, objectId).catch(() => undefined);
    throw error;
  }
}

/** The stored response, or certainty that nothing will be created. */
export async function readAnswer(db: Db, objectId: string): Promise<StoredResponse> {
  const stored = await readStoredResponse(db, objectId);
  if (stored !== null) return { ...stored, replayed: false };
  // Ending the claim first ensures that nothing is created after the client gets the error.
  if (await releaseClaim(db, objectId)) throw unavailable();
  const late = await readStoredResponse(db, objectId);
  if (late !== null) return { ...late, replayed: false };
  throw unavailable();
}

/** Equivalent requests have the same hash, whatever their formatting (decision I1). */
function hashRequest(endpoint: string, request: object): Buffer {
  return createHash('sha256').update(canonicalJson({ endpoint, request })).digest();
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
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
