/** Webhook endpoints and deliveries of one account and mode, for a merchant. */
import { AccountDb } from '../db/account-db';
import { type DeliveryWarning, listDeliveryWarnings } from '../db/repositories/delivery-warnings';
import { findEventBody } from '../db/repositories/events';
import type { WebhookDelivery } from '../db/repositories/webhook-deliveries';
import {
  type AttemptCounts,
  countAttempts,
  countRecentAttempts,
  type EndpointCounts,
  type StoredAttempt,
} from '../db/repositories/webhook-attempts';
import type { WebhookEndpoint } from '../db/repositories/webhook-endpoints';
import type { Db } from '../db/transaction';
import { idAt } from '../domain/ids';
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
import { recoverWebhookDeliveries, replayMissing } from './admin/webhook-recovery';
import type { Owner } from './own';

export type { AttemptCounts, EndpointCounts } from '../db/repositories/webhook-attempts';
export {
  type DeliveryWarning,
  WARNING_DAYS,
  WARNING_MAX,
} from '../db/repositories/delivery-warnings';

export interface Recovered {
  done: number;
  /** Above the maximum of open deliveries: run it again later. */
  left: number;
}

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
  /** @param data null: the usual one */
  ping: (
    owner: Owner,
    by: ChangedBy,
    id: string,
    data: Readonly<Record<string, unknown>> | null,
  ) => Promise<Ping>;
  /** What its merchant has to act on; of all endpoints. */
  warnings: (owner: Owner) => Promise<DeliveryWarning[]>;
  /** The attempts of the last 24 hours. */
  health: (owner: Owner, endpointId: string) => Promise<AttemptCounts[]>;
  /** The recent attempts of all endpoints that are enabled. */
  recent: (owner: Owner) => Promise<EndpointCounts[]>;
  recover: (owner: Owner, by: ChangedBy, id: string, since: Date) => Promise<Recovered>;
  replay: (owner: Owner, by: ChangedBy, id: string, since: Date) => Promise<Recovered>;
  deliveries: (
    owner: Owner,
    endpointId: string,
    status: WebhookDeliveryStatus | undefined,
    limit: number,
    before: string | null,
  ) => Promise<WebhookDelivery[]>;
  attempts: (owner: Owner, deliveryId: string) => Promise<StoredAttempt[]>;
  /** What is sent for an event; null: it is no longer stored. */
  body: (owner: Owner, eventId: string) => Promise<Buffer | null>;
  retry: Change<WebhookDelivery>;
}

export function createDashboardWebhooks(
  tools: WebhookTools & { db: Db },
  find: Find,
): DashboardWebhooks {
  const { db } = tools;
  const ofAccount = ({ accountId }: Owner) => new AccountDb(db, accountId);
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
    ping: async (owner, by, id, data) =>
      pingEndpoint(db, by, tools, await own(owner, id), data ?? undefined),
    warnings: (owner) =>
      listDeliveryWarnings(ofAccount(owner), owner, new Date(), (time) => idAt('delivery', time)),
    health: async (owner, id) => countAttempts(ofAccount(owner), await own(owner, id)),
    recent: (owner) => countRecentAttempts(ofAccount(owner), owner.accountId, owner.mode),
    recover: async (owner, by, id, since) => {
      const wish = { endpointId: await own(owner, id), since };
      const workflows = tools.webhookDeliveryWorkflows;
      const { retried, resumed, left } = await recoverWebhookDeliveries(db, by, workflows, wish);
      return { done: retried + resumed, left };
    },
    replay: async (owner, by, id, since) => {
      const wish = { endpointId: await own(owner, id), since };
      const workflows = tools.webhookDeliveryWorkflows;
      const { created, left } = await replayMissing(db, by, workflows, wish);
      return { done: created, left };
    },
    deliveries: async (owner, endpointId, status, limit, before) =>
      listWebhookDeliveries(ofAccount(owner), await own(owner, endpointId), status, limit, before),
    attempts: async (owner, id) =>
      listAttempts(ofAccount(owner), (await find.delivery(owner, id)).id),
    body: (owner, eventId) => findEventBody(ofAccount(owner), owner, eventId),
    retry: async (owner, by, id) => {
      const delivery = await find.delivery(owner, id);
      return retryWebhookDelivery(db, by, tools.webhookDeliveryWorkflows, delivery.id);
    },
  };
}
