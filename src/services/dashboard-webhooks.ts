/** Webhook endpoints and deliveries of one account and mode, for a merchant. */
import type { WebhookDelivery } from '../db/repositories/webhook-deliveries';
import type { StoredAttempt } from '../db/repositories/webhook-attempts';
import type { WebhookEndpoint } from '../db/repositories/webhook-endpoints';
import type { Db } from '../db/transaction';
import type { WebhookDeliveryStatus } from '../domain/webhook-delivery';
import type { Ping } from '../presenters/admin';
import type { ChangedBy } from './admin/audit';
import {
  listAttempts,
  listWebhookDeliveries,
  retryWebhookDelivery,
} from './admin/webhook-deliveries';
import {
  createEndpoint,
  deleteEndpoint,
  editEndpoint,
  enableEndpoint,
  type EndpointSettings,
  type EndpointWithSecret,
  pingEndpoint,
  rollSecret,
  type WebhookTools,
} from './admin/webhooks';
import type { Owner } from './dashboard';

interface Find {
  endpoints: (owner: Owner) => Promise<WebhookEndpoint[]>;
  endpoint: (owner: Owner, id: string) => Promise<WebhookEndpoint>;
  delivery: (owner: Owner, id: string) => Promise<WebhookDelivery>;
}

type Change<Result> = (owner: Owner, by: ChangedBy, id: string) => Promise<Result>;

/** @throws AdminRefusal, InvalidInput */
export interface DashboardWebhooks extends Find {
  create: (owner: Owner, by: ChangedBy, settings: EndpointSettings) => Promise<EndpointWithSecret>;
  edit: (
    owner: Owner,
    by: ChangedBy,
    id: string,
    settings: EndpointSettings,
  ) => Promise<WebhookEndpoint>;
  roll: Change<EndpointWithSecret>;
  enable: (owner: Owner, by: ChangedBy, id: string, enabled: boolean) => Promise<WebhookEndpoint>;
  remove: Change<WebhookEndpoint>;
  ping: Change<Ping>;
  deliveries: (
    owner: Owner,
    endpointId: string,
    status: WebhookDeliveryStatus | undefined,
    limit: number,
  ) => Promise<WebhookDelivery[]>;
  attempts: (owner: Owner, deliveryId: string) => Promise<StoredAttempt[]>;
  retry: Change<WebhookDelivery>;
}

export function createDashboardWebhooks(
  tools: WebhookTools & { db: Db },
  find: Find,
): DashboardWebhooks {
  const { db } = tools;
  /** An object of somebody else is not changed. */
  const own = async (owner: Owner, id: string) => (await find.endpoint(owner, id)).id;
  return {
    ...find,
    create: ({ accountId, mode }, by, settings) =>
      createEndpoint(db, by, tools, { accountId, mode, ...settings }),
    edit: async (owner, by, id, settings) =>
      editEndpoint(db, by, tools, await own(owner, id), settings),
    roll: async (owner, by, id) => rollSecret(db, by, tools, await own(owner, id)),
    enable: async (owner, by, id, enabled) => enableEndpoint(db, by, await own(owner, id), enabled),
    remove: async (owner, by, id) => deleteEndpoint(db, by, await own(owner, id)),
    ping: async (owner, by, id) => pingEndpoint(db, by, tools, await own(owner, id)),
    deliveries: async (owner, endpointId, status, limit) =>
      listWebhookDeliveries(db, await own(owner, endpointId), status, limit),
    attempts: async (owner, id) => listAttempts(db, (await find.delivery(owner, id)).id),
    retry: async (owner, by, id) => {
      const delivery = await find.delivery(owner, id);
      return retryWebhookDelivery(db, by, tools.webhookDeliveryWorkflows, delivery.id);
    },
  };
}
