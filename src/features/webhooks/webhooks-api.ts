/** /webhook_endpoints and /webhook_deliveries, in addition to the specification (decisions/webhooks#webhooks-by-api). */
import { bind, type Route, withBody } from '../../kit/api/routes';
import {
  presentAttempt,
  presentDelivery,
  presentEndpoint,
  presentEndpointWithSecret,
  presentPing,
  readWebhookDeliveryQuery,
  readWebhookEndpointChange,
  readWebhookEndpointQuery,
  readWebhookEndpointRequest,
  WEBHOOK_OPERATIONS,
} from './webhooks-contract';
import type { Middleware } from 'koa';
import { presentOne } from '../../kit/service/envelope';
import type { Webhooks } from './webhooks';
import { changedBy, type GatewayState, pathId } from '../../kit/api/context';
import { requireScope } from '../../kit/api/auth';
import { validate } from '../../kit/api/validate';
import { writeStored } from '../../kit/api/idempotency-key';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function webhookRoutes(webhooks: Webhooks, pagination: Pagination): Route[] {
  return bind(WEBHOOK_OPERATIONS, {
    createWebhookEndpoint: withBody(
      validate(readWebhookEndpointRequest),
      readsEvents,
      async (ctx) => {
        const { caller, idempotencyKey, request } = ctx.state;
        const input = { idempotencyKey, request };
        writeStored(ctx, await webhooks.create(caller, changedBy(ctx.state), input));
      },
    ),

    listWebhookEndpoints: listPage(
      pagination,
      readWebhookEndpointQuery,
      (caller, query) => webhooks.list(caller, query),
      presentEndpoint,
    ),

    getWebhookEndpoint: async (ctx) => {
      const endpoint = await webhooks.get(ctx.state.caller, pathId('webhookEndpoint', ctx));
      ctx.body = presentOne(presentEndpoint(endpoint));
    },

    updateWebhookEndpoint: withBody(
      validate(readWebhookEndpointChange),
      readsEvents,
      async (ctx) => {
        const { caller, request } = ctx.state;
        const id = pathId('webhookEndpoint', ctx);
        const endpoint = await webhooks.update(caller, changedBy(ctx.state), id, request);
        ctx.body = presentOne(presentEndpoint(endpoint));
      },
    ),

    deleteWebhookEndpoint: async (ctx) => {
      const id = pathId('webhookEndpoint', ctx);
      const endpoint = await webhooks.remove(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentEndpoint(endpoint));
    },

    rollWebhookEndpoint: async (ctx) => {
      const id = pathId('webhookEndpoint', ctx);
      const endpoint = await webhooks.roll(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentEndpointWithSecret(endpoint));
    },

    pingWebhookEndpoint: async (ctx) => {
      const id = pathId('webhookEndpoint', ctx);
      const ping = await webhooks.ping(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentPing(ping));
    },

    listWebhookDeliveries: async (ctx, next) => {
      const list = listPage(
        pagination,
        readWebhookDeliveryQuery,
        (caller, { filters, ...page }) => {
          const id = pathId('webhookEndpoint', ctx);
          return webhooks.deliveries(caller, id, { ...page, status: filters.status });
        },
        presentDelivery,
      );
      await list(ctx, next);
    },

    getWebhookDelivery: async (ctx) => {
      const id = pathId('webhookDelivery', ctx);
      const { delivery, attempts } = await webhooks.delivery(ctx.state.caller, id);
      const shown = { ...presentDelivery(delivery), attempts: attempts.map(presentAttempt) };
      ctx.body = presentOne(shown);
    },

    resendWebhookDelivery: async (ctx) => {
      const id = pathId('webhookDelivery', ctx);
      const delivery = await webhooks.resend(ctx.state.caller, changedBy(ctx.state), id);
      ctx.body = presentOne(presentDelivery(delivery));
    },
  });
}

/** Who points an endpoint somewhere reads the events there, so the key must be able to read them. */
const readsEvents: Middleware<GatewayState> = async (ctx, next) => {
  requireScope(ctx.state.caller, 'events:read');
  await next();
};
