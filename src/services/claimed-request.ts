/**
 * The idempotency rules around a request that creates something (decisions I1 to I3): the key is
 * claimed before the work, a stored answer is replayed, and a refusal leaves the key free.
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
  /** The path: the same body means something else at another one. */
  endpoint: string;
  idempotencyKey: string;
  /** As it was understood, so that spelling makes no difference. */
  request: Request;
}

/** A reservation takes a fraction of a second: most clients need not wait for the lease. */
const RETRY_AFTER_S_MAX = 2;

/**
 * Runs the work under the claim, or answers from what an earlier run stored.
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
    // The key is free again; where the object exists after all, the claim is not there to release.
    // When the database cannot do it now, the lease ends the claim, and the cause is worth more.
    await releaseClaim(db, objectId).catch(() => undefined);
    throw error;
  }
}

/** What the creating transaction stored, or the certainty that it never will. */
export async function readAnswer(db: Db, objectId: string): Promise<StoredResponse> {
  const stored = await readStoredResponse(db, objectId);
  if (stored !== null) return { ...stored, replayed: false };
  // Ending the claim first makes sure that nothing is created after we have said that nothing was.
  if (await releaseClaim(db, objectId)) throw unavailable();
  const late = await readStoredResponse(db, objectId);
  if (late !== null) return { ...late, replayed: false };
  throw unavailable();
}

/** Requests that mean the same have the same hash, however they are spelled (decision I1). */
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
