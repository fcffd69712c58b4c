/**
 * API keys for API keys (decisions/keys#keys-by-api): the changes of the dashboard's pages (api-keys.ts),
 * for the calling key itself and the keys that it has made. The trigger key_of_key of the database
 * (db/migrations/baseline/api-keys.ts) lets no key be inserted that has more rights than its maker; this module says
 * which field is too much.
 */
import {
  allowsLiveKeysByApi,
  type ApiKey,
  findApiKey,
  listApiKeysByPage,
} from '../../db/api-keys/api-keys';
import { lockClaim, storeResponse } from '../../db/idempotency';
import type { Reader, Tx } from '../../db/transaction';
import { ApiError } from '../../domain/errors';
import { newId } from '../../platform/lib/new-id';
import { presentCreated } from '../../kit/service/envelope';
import { type KeyRequest, presentKey, presentKeyWithSecret } from './api-keys-contract';
import type { ChangedBy } from '../../kit/service/audit';
import { createKey, requireWorkingKey, revokeKey, rotateKey } from './api-keys';
import { refuseAsApi, unlessDone } from '../../kit/service/api-refusal';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { inputFor, type KeyRights, NAMES, requireWithin } from './key-rights';
import { requireOwn } from '../../kit/service/own';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';

export type Keys = ReturnType<typeof createKeys>;

type KeysDeps = ClaimDeps & { pepper: string };

export function createKeys(deps: KeysDeps) {
  const { db } = deps;
  const keyOf = async (caller: Caller, id: string) =>
    requireOwn(caller, 'api_key', id, await findApiKey(db, id));

  return {
    /** The stored response has no secret. @throws ApiError key_change_not_allowed, idempotency's */
    create: (
      caller: Caller,
      by: ChangedBy,
      input: { idempotencyKey: string; request: KeyRequest },
    ): Promise<StoredResponse> => refuseAsApi(() => create(deps, caller, by, input), NAMES),

    /** Lists the keys, newest first, with revoked and expired ones. */
    list: (
      caller: Caller,
      query: { limit: number; after: ListPosition | null },
    ): Promise<Page<ApiKey>> => listApiKeysByPage(db, { ...caller, ...query }),

    /** @throws ApiError not_found */
    get: (caller: Caller, id: string) => refuseAsApi(() => keyOf(caller, id)),

    /** @throws ApiError not_found, key_change_not_allowed, invalid_state, validation_failed */
    roll: (caller: Caller, by: ChangedBy, id: string) =>
      refuseAsApi(async () => {
        requireHandled(caller, await keyOf(caller, id));
        return db.transaction(async (tx) => {
          await requireByApi(tx, caller);
          const maker = await requireWorkingKey(tx, caller.apiKeyId);
          // People may have widened the rights of the other key since.
          if (id !== maker.id) await requireWithin(tx, maker, await requireWorkingKey(tx, id));
          return rotateKey.makeIn(tx, by, { id, pepper: deps.pepper }, {});
        });
      }),

    /** A repeated call does nothing more. @throws ApiError not_found, key_change_not_allowed */
    revoke: (caller: Caller, by: ChangedBy, id: string): Promise<ApiKey> =>
      refuseAsApi(async () => {
        const key = await keyOf(caller, id);
        requireHandled(caller, key);
        if (key.revokedAt === null) {
          await unlessDone(revokeKey.make(db, by, { id }, {}), 'api_key_revoked');
        }
        return keyOf(caller, id);
      }),
  };
}

async function create(
  deps: KeysDeps,
  caller: Caller,
  by: ChangedBy,
  { idempotencyKey, request }: { idempotencyKey: string; request: KeyRequest },
): Promise<StoredResponse> {
  const { db, pepper } = deps;
  const { accountId, mode } = caller;
  const id = newId('apiKey');
  return runClaimed<KeyRequest, object>(deps, {
    caller,
    objectId: id,
    endpoint: '/api_keys',
    idempotencyKey,
    request,
    prepare: async () => {
      await requireByApi(db, caller);
      return {};
    },
    create: async () => {
      const created = await db.transaction(async (tx) => {
        // The claim has ended, and the same request may have created another one.
        if ((await lockClaim(tx, id)) === null) return null;
        const maker = await requireWorkingKey(tx, caller.apiKeyId);
        const allow = (within: Tx, rights: KeyRights) => requireWithin(within, maker, rights);
        const subject = { accountId, mode, pepper, id, madeBy: { key: maker, allow } };
        const key = await createKey.makeIn(tx, by, subject, inputFor(maker, request));
        await storeResponse(tx, id, presentCreated({ ...presentKey(key), secret: null }));
        return presentCreated(presentKeyWithSecret(key));
      });
      return created === null ? readAnswer(db, id) : { ...created, replayed: false };
    },
  });
}

/** @throws ApiError key_change_not_allowed */
function requireHandled({ apiKeyId }: Caller, { id, createdByKey }: ApiKey): void {
  if (id === apiKeyId || createdByKey === apiKeyId) return;
  throw new ApiError({
    code: 'key_change_not_allowed',
    details: { reason: 'not_made_by_this_key' },
  });
}

/** @throws ApiError key_change_not_allowed */
async function requireByApi(db: Reader, { accountId, mode }: Caller): Promise<void> {
  if (mode === 'test' || (await allowsLiveKeysByApi(db, accountId))) return;
  throw new ApiError({
    code: 'key_change_not_allowed',
    details: { reason: 'live_keys_by_people' },
    message:
      'Live keys of this account are created and rolled by people on the dashboard. An owner can allow it by API there, under API keys.',
  });
}
