/** /webhook_endpoints and /webhook_deliveries, in addition to the specification (decisions/webhooks#webhooks-by-api). */
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { presentOne } from '../../kit/service/envelope';
import {
  presentAttempts,
  presentDeliveryForApi,
  presentEndpointForApi,
  presentEndpointWithSecret,
  presentPingForApi,
} from './webhooks-contract';
import {
  readWebhookDeliveryQuery,
  readWebhookEndpointChange,
  readWebhookEndpointQuery,
  readWebhookEndpointRequest,
} from './webhooks-contract';
import type { Webhooks } from './webhooks';
import { changedBy, type GatewayState, pathId } from '../../kit/api/context';
import { type Auth, requireScope } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { idempotent, writeStored } from '../../kit/api/idempotency-key';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function webhookRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  webhooks: Webhooks,
  pagination: Pagination,
): void {
  router.post(
    '/webhook_endpoints',
    auth('webhooks:write'),
    validate(readWebhookEndpointRequest),
    readsEvents,
    noQuery,
    idempotent(),
    async (ctx) => {
      const { caller, idempotencyKey, request } = ctx.state;
      const input = { idempotencyKey, request };
      writeStored(ctx, await webhooks.create(caller, changedBy(ctx.state), input));
    },
  );

  router.get(
    '/webhook_endpoints',
    auth('webhooks:read'),
    listPage(
      pagination,
      readWebhookEndpointQuery,
      (caller, query) => webhooks.list(caller, query),
      presentEndpointForApi,
    ),
  );

  router.get('/webhook_endpoints/:id', auth('webhooks:read'), noQuery, async (ctx) => {
    const endpoint = await webhooks.get(ctx.state.caller, pathId('webhookEndpoint', ctx));
    ctx.body = presentOne(presentEndpointForApi(endpoint));
  });

  router.patch(
    '/webhook_endpoints/:id',
    auth('webhooks:write'),
    validate(readWebhookEndpointChange),
    readsEvents,
    noQuery,
    async (ctx) => {
      const { caller, request } = ctx.state;
      const id = pathId('webhookEndpoint', ctx);
      const endpoint = await webhooks.update(caller, changedBy(ctx.state), id, request);
      ctx.body = presentOne(presentEndpointForApi(endpoint));
    },
  );

  router.delete('/webhook_endpoints/:id', auth('webhooks:write'), noQuery, async (ctx) => {
    const id = pathId('webhookEndpoint', ctx);
    const endpoint = await webhooks.remove(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentEndpointForApi(endpoint));
  });

  router.post('/webhook_endpoints/:id/roll', auth('webhooks:write'), noQuery, async (ctx) => {
    const id = pathId('webhookEndpoint', ctx);
    const endpoint = await webhooks.roll(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentEndpointWithSecret(endpoint));
  });

  router.post('/webhook_endpoints/:id/ping', auth('webhooks:write'), noQuery, async (ctx) => {
    const id = pathId('webhookEndpoint', ctx);
    const ping = await webhooks.ping(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentPingForApi(ping));
  });

  router.get('/webhook_endpoints/:id/deliveries', auth('webhooks:read'), async (ctx, next) => {
    const list = listPage(
      pagination,
      readWebhookDeliveryQuery,
      (caller, { filters, ...page }) => {
        const id = pathId('webhookEndpoint', ctx);
        return webhooks.deliveries(caller, id, { ...page, status: filters.status });
      },
      presentDeliveryForApi,
    );
    await list(ctx, next);
  });

  router.get('/webhook_deliveries/:id', auth('webhooks:read'), noQuery, async (ctx) => {
    const id = pathId('webhookDelivery', ctx);
    const { delivery, attempts } = await webhooks.delivery(ctx.state.caller, id);
    const shown = { ...presentDeliveryForApi(delivery), attempts: presentAttempts(attempts) };
    ctx.body = presentOne(shown);
  });

  router.post('/webhook_deliveries/:id/resend', auth('webhooks:write'), noQuery, async (ctx) => {
    const id = pathId('webhookDelivery', ctx);
    const delivery = await webhooks.resend(ctx.state.caller, changedBy(ctx.state), id);
    ctx.body = presentOne(presentDeliveryForApi(delivery));
  });
}

/** Who points an endpoint somewhere reads the events there, so the key must be able to read them. */
const readsEvents: Middleware<GatewayState> = async (ctx, next) => {
  requireScope(ctx.state.caller, 'events:read');
  await next();
};
