/**
 * Webhook endpoints and their deliveries for API keys (decisions/webhooks#webhooks-by-api). The changes are
 * those of the dashboard's pages (webhook-endpoints.ts and webhook-deliveries.ts).
 */
import { lockClaim, storeResponse } from '../../db/idempotency';
import {
  listWebhookDeliveries,
  findWebhookDelivery,
  type WebhookDelivery,
} from '../../db/webhooks/webhook-deliveries';
import type { Db } from '../../db/transaction';
import { findEndpoint, listEndpointsByPage } from '../../db/webhooks/webhook-endpoints';
import { listAttempts } from '../../db/webhooks/webhook-attempts';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';
import type { EndpointChange, EndpointRequest } from '../../domain/webhook-endpoint';
import { newId } from '../../platform/lib/new-id';
import { presentCreated } from '../../kit/service/envelope';
import { presentEndpointWithSecret } from './webhooks-contract';
import type { ChangedBy } from '../../kit/service/audit';
import { refuseAsApi, unlessDone } from '../../kit/service/api-refusal';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { requireOwn } from '../../kit/service/own';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';
import { retryDelivery } from './webhook-deliveries';
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  pingEndpoint,
  requireEndpoint,
  rollSecret,
  type WebhookEndpoint,
  type WebhookTools,
} from './webhook-endpoints';

interface PageQuery {
  limit: number;
  after: ListPosition | null;
}

interface DeliveryQuery extends PageQuery {
  status: WebhookDeliveryStatus | undefined;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

export function createWebhooks(deps: ClaimDeps & WebhookTools) {
  const { db } = deps;

  const endpointOf = async (caller: Caller, id: string) =>
    requireOwn(caller, 'webhook_endpoint', id, await findEndpoint(db, id));
  const deliveryOf = async (caller: Caller, id: string) =>
    requireOwn(caller, 'webhook_delivery', id, await findWebhookDelivery(db, id));

  return {
    /** The stored response has no secret. @throws ApiError too_many_objects, idempotency's */
    create: (
      caller: Caller,
      by: ChangedBy,
      input: { idempotencyKey: string; request: EndpointRequest },
    ): Promise<StoredResponse> => refuseAsApi(() => create(deps, caller, by, input)),

    /** Newest first, without deleted ones. */
    list: (caller: Caller, query: PageQuery): Promise<Page<WebhookEndpoint>> =>
      listEndpointsByPage(db, { ...caller, ...query }),

    /** Finds an endpoint, even a deleted one. @throws ApiError not_found */
    get: (caller: Caller, id: string) => refuseAsApi(() => endpointOf(caller, id)),

    /** A repeated change does nothing more. @throws ApiError not_found, invalid_state, validation_failed */
    update: (caller: Caller, by: ChangedBy, id: string, change: EndpointChange) =>
      refuseAsApi(async () => {
        await endpointOf(caller, id);
        return update(deps, by, id, change);
      }),

    /** A repeated deletion does nothing more. @throws ApiError not_found */
    remove: (caller: Caller, by: ChangedBy, id: string): Promise<WebhookEndpoint> =>
      refuseAsApi(async () => {
        const { deletedAt } = await endpointOf(caller, id);
        if (deletedAt === null) {
          await unlessDone(deleteEndpoint.make(db, by, { id }, {}), 'endpoint_deleted');
        }
        return endpointOf(caller, id);
      }),

    /** @throws ApiError not_found, invalid_state */
    roll: (caller: Caller, by: ChangedBy, id: string) =>
      refuseAsApi(async () => {
        await endpointOf(caller, id);
        return rollSecret.make(db, by, { ...deps, id }, {});
      }),

    /** Sends a test event once. @throws ApiError not_found, invalid_state */
    ping: (caller: Caller, by: ChangedBy, id: string) =>
      refuseAsApi(async () => {
        await endpointOf(caller, id);
        return pingEndpoint(db, by, { ...deps, id });
      }),

    /** Newest first, also of a deleted endpoint. @throws ApiError not_found */
    deliveries: (caller: Caller, id: string, query: DeliveryQuery) =>
      refuseAsApi(async () => {
        await endpointOf(caller, id);
        return listDeliveries(db, id, query);
      }),

    /** With its attempts, oldest first. @throws ApiError not_found */
    delivery: (caller: Caller, id: string) =>
      refuseAsApi(async () => ({
        delivery: await deliveryOf(caller, id),
        attempts: await listAttempts(db, id),
      })),

    /** One attempt at once, whatever the status. @throws ApiError not_found, invalid_state */
    resend: (caller: Caller, by: ChangedBy, id: string): Promise<WebhookDelivery> =>
      refuseAsApi(async () => {
        await deliveryOf(caller, id);
        return retryDelivery.make(db, by, { ...deps, id }, {});
      }),
  };
}

async function create(
  deps: ClaimDeps & WebhookTools,
  caller: Caller,
  by: ChangedBy,
  { idempotencyKey, request }: { idempotencyKey: string; request: EndpointRequest },
): Promise<StoredResponse> {
  const { db } = deps;
  const { accountId, mode } = caller;
  const id = newId('webhookEndpoint');
  const subject = { ...deps, accountId, mode, id };
  return runClaimed<EndpointRequest, EndpointRequest>(deps, {
    caller,
    objectId: id,
    endpoint: '/webhook_endpoints',
    idempotencyKey,
    request,
    prepare: () => createEndpoint.check(db, subject, request),
    create: async (checked) => {
      const created = await db.transaction(async (tx) => {
        // The claim has ended, and the same request may have created another one.
        if ((await lockClaim(tx, id)) === null) return null;
        const endpoint = await createEndpoint.makeIn(tx, by, subject, checked);
        const shown = presentEndpointWithSecret(endpoint);
        await storeResponse(tx, id, presentCreated({ ...shown, secret: null }));
        return presentCreated(shown);
      });
      return created === null ? readAnswer(db, id) : { ...created, replayed: false };
    },
  });
}

async function update(
  deps: WebhookTools & { db: Db },
  by: ChangedBy,
  id: string,
  { enabled, ...fields }: EndpointChange,
): Promise<WebhookEndpoint> {
  const subject = { ...deps, id };
  const edit = await editEndpoint.check(deps.db, subject, fields);
  return deps.db.transaction(async (tx) => {
    const before = await requireEndpoint(tx, id);
    if (!isSame(before, edit)) await editEndpoint.makeIn(tx, by, subject, edit);
    if (enabled !== undefined && enabled !== before.enabled) {
      await (enabled ? enableEndpoint : disableEndpoint).makeIn(tx, by, { id }, {});
    }
    return requireEndpoint(tx, id);
  });
}

function isSame(
  before: WebhookEndpoint,
  { url, events, description, signature }: Partial<EndpointRequest>,
) {
  const shown = [...(before.events ?? ['all'])].sort().join();
  return (
    (url === undefined || url === before.url) &&
    (events === undefined || [...events].sort().join() === shown) &&
    (description === undefined || description === (before.description ?? '')) &&
    (signature === undefined || signature === before.signature)
  );
}

async function listDeliveries(
  db: Db,
  endpointId: string,
  { limit, after, status }: DeliveryQuery,
): Promise<Page<WebhookDelivery>> {
  // Their ids are in the order of their creation.
  const before = after?.id ?? null;
  const found = await listWebhookDeliveries(db, endpointId, status, limit + 1, before);
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  const next = last === undefined ? null : { createdAt: last.createdAt.toISOString(), id: last.id };
  return { items, next };
}
