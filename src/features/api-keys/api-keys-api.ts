/** /api_keys, in addition to the specification (decisions/keys#keys-by-api). */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  API_KEY_OPERATIONS,
  presentKey,
  presentKeyWithSecret,
  readApiKeyQuery,
  readApiKeyRequest,
} from './api-keys-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Keys } from './keys-by-api';
import { changedBy, pathId } from '../../kit/api/context';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function apiKeyRoutes(keys: Keys, pagination: Pagination): Route[] {
  return bind(API_KEY_OPERATIONS, {
    createApiKey: withBody(validate(readApiKeyRequest), async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const input = { idempotencyKey, request };
      writeStored(ctx, await keys.create(caller, changedBy(ctx.state), input));
    }),

    listApiKeys: listPage(
      pagination,
      readApiKeyQuery,
      (caller, query) => keys.list(caller, query),
      presentKey,
    ),

    getApiKey: async (ctx) => {
      const key = await keys.get(ctx.state.caller, pathId('apiKey', ctx));
      ctx.body = presentOne(presentKey(key));
    },

    rollApiKey: async (ctx) => {
      const id = pathId('apiKey', ctx);
      const key = await keys.roll(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentKeyWithSecret(key));
    },

    revokeApiKey: async (ctx) => {
      const id = pathId('apiKey', ctx);
      const key = await keys.revoke(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentKey(key));
    },
  });
}
