/** /api_keys, in addition to the specification (decisions/keys#keys-by-api). */
import type Router from '@koa/router';
import { presentKeyForApi, presentKeyWithSecret } from './api-keys-contract';
import { presentOne } from '../../kit/service/envelope';
import { readApiKeyQuery, readApiKeyRequest } from './api-keys-contract';
import type { Keys } from './keys-by-api';
import { changedBy, type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function apiKeyRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  keys: Keys,
  pagination: Pagination,
): void {
  router.post(
    '/api_keys',
    auth('api_keys:write'),
    validate(readApiKeyRequest),
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const input = { idempotencyKey, request };
      writeStored(ctx, await keys.create(caller, changedBy(ctx.state), input));
    },
  );

  router.get(
    '/api_keys',
    auth('api_keys:read'),
    listPage(
      pagination,
      readApiKeyQuery,
      (caller, query) => keys.list(caller, query),
      presentKeyForApi,
    ),
  );

  router.get('/api_keys/:id', auth('api_keys:read'), noQuery, async (ctx) => {
    const key = await keys.get(ctx.state.caller, pathId('apiKey', ctx));
    ctx.body = presentOne(presentKeyForApi(key));
  });

  router.post('/api_keys/:id/roll', auth('api_keys:write'), noQuery, async (ctx) => {
    const id = pathId('apiKey', ctx);
    const key = await keys.roll(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentKeyWithSecret(key));
  });

  router.post('/api_keys/:id/revoke', auth('api_keys:write'), noQuery, async (ctx) => {
    const id = pathId('apiKey', ctx);
    const key = await keys.revoke(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentKeyForApi(key));
  });
}
