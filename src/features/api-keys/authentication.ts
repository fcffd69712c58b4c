/**
 * Accepts API keys (the specification, "Authentication"; decisions/keys#api-keys, decisions/api#rate-limit,
 * decisions/api#client-address and decisions/api#order-of-checks).
 */
import type { Reader } from '../../db/transaction';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { authenticateKeys, type KeyUse, type SentKey } from '../../db/api-keys/api-keys';
import { parseApiKey } from '../../domain/api-key';
import { ApiError } from '../../domain/errors';
import { hashApiKey, pepperIdOf, type Peppers } from '../../platform/lib/api-key-secret';
import type { Authenticated, Authentication } from '../../kit/service/services';

const BEARER = /^Bearer +(.+)$/i;

const REQUESTS_TOGETHER_MAX = 32;

/**
 * A key that is over its limit is refused from memory for the rest of the minute, after a while: a client
 * that does not wait would otherwise keep the process and the database busy with refusals.
 */
const REFUSED_AGAIN_MS = 500;
const REMEMBERED_MAX = 10_000;

export function createAuthentication({
  db,
  peppers: { current, next, earlier },
}: {
  db: Reader;
  peppers: Peppers;
}): Authentication {
  const pepperId = pepperIdOf(current);
  const sentKey = (key: string, address: string): SentKey => ({
    key,
    current: hashApiKey(key, current),
    next: next === null ? null : hashApiKey(key, next),
    earlier: earlier.map((pepper) => hashApiKey(key, pepper)),
    address: isIP(address) === 0 ? null : address,
  });
  // Requests that were read in the same turn share a statement: under load, a statement costs more than its work.
  const uses = new DataLoader<SentKey, KeyUse | null>(
    (keys) => authenticateKeys(db, pepperId, keys),
    { cache: false, batchScheduleFn: setImmediate, maxBatchSize: REQUESTS_TOGETHER_MAX },
  );
  const exceeded = new Map<string, { answer: Authenticated; untilMs: number }>();

  /** Null if it is not known to be over its limit. */
  async function refuseAgain(sent: string): Promise<Authenticated | null> {
    const found = exceeded.get(sent);
    if (found === undefined) return null;
    if (performance.now() < found.untilMs) await sleep(REFUSED_AGAIN_MS);
    const leftMs = found.untilMs - performance.now();
    if (leftMs <= 0) {
      exceeded.delete(sent);
      return null;
    }
    const { answer } = found;
    return { ...answer, rate: { ...answer.rate, resetSeconds: Math.ceil(leftMs / 1_000) } };
  }

  return {
    async authenticate(authorization, address): Promise<Authenticated> {
      const key = BEARER.exec(authorization)?.[1];
      if (key === undefined) throw new ApiError({ code: 'authentication_required' });
      // The checksum finds a typo without a database query.
      if (parseApiKey(key) === null) throw new ApiError({ code: 'invalid_api_key' });

      const sent = sentKey(key, address);
      const name = `${sent.current.toString('base64')} ${address}`;
      const again = await refuseAgain(name);
      if (again !== null) return again;
      const use = await uses.load(sent);
      if (use === null) throw new ApiError({ code: 'invalid_api_key' });
      if (use.accountStatus !== 'active') throw new ApiError({ code: 'account_suspended' });
      if (!use.addressAllowed) throw new ApiError({ code: 'ip_not_allowed' });

      const { apiKeyId, accountId, mode, scopes, requestsPerMinute: limit, requests } = use;
      const answer: Authenticated = {
        caller: { apiKeyId, accountId, mode, scopes },
        rate: {
          limit,
          remaining: Math.max(0, limit - requests),
          // The minute may end while the query runs.
          resetSeconds: Math.max(1, use.secondsLeft),
        },
        exceeded: requests > limit,
      };
      if (answer.exceeded) {
        if (exceeded.size >= REMEMBERED_MAX) exceeded.clear();
        const untilMs = performance.now() + answer.rate.resetSeconds * 1_000;
        exceeded.set(name, { answer, untilMs });
      }
      return answer;
    },
  };
}
