/** Webhook endpoints and deliveries of one account and mode, for a merchant. */
import { AccountDb } from '../db/account-db';
import { listDeliveryWarnings } from '../db/repositories/delivery-warnings';
import { findEventBody } from '../db/repositories/events';
import type { WebhookDelivery } from '../db/repositories/webhook-deliveries';
import { countAttempts, countRecentAttempts } from '../db/repositories/webhook-attempts';
import type { WebhookEndpoint } from '../db/repositories/webhook-endpoints';
import type { Db } from '../db/transaction';
import { idAt } from '../domain/ids';
import type { WebhookDeliveryStatus } from '../domain/webhook-delivery';
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

/** @throws AdminRefusal, InvalidInput */
export function createDashboardWebhooks(tools: WebhookTools & { db: Db }, find: Find) {
  const { db } = tools;
  const ofAccount = ({ accountId }: Owner) => new AccountDb(db, accountId);
  /** An object of somebody else is not changed. */
  const own = async (owner: Owner, id: string) => (await find.endpoint(owner, id)).id;
  return {
    ...find,
    create: ({ accountId, mode }: Owner, by: ChangedBy, settings: EndpointSettings) =>
      createEndpoint(db, by, tools, { accountId, mode, ...settings }),
    edit: async (owner: Owner, by: ChangedBy, id: string, settings: EndpointSettings) =>
      editEndpoint(db, by, tools, await own(owner, id), settings),
    roll: async (owner: Owner, by: ChangedBy, id: string) =>
      rollSecret(db, by, tools, await own(owner, id)),
    enable: async (owner: Owner, by: ChangedBy, id: string, enabled: boolean) =>
      enableEndpoint(db, by, await own(owner, id), enabled),
    remove: async (owner: Owner, by: ChangedBy, id: string) =>
      deleteEndpoint(db, by, await own(owner, id)),
    /** @param data null: the usual one */
    ping: async (
      owner: Owner,
      by: ChangedBy,
      id: string,
      data: Readonly<Record<string, unknown>> | null,
    ) => pingEndpoint(db, by, tools, await own(owner, id), data ?? undefined),
    /** What the merchant has to act on, for all endpoints. */
    warnings: (owner: Owner) =>
      listDeliveryWarnings(ofAccount(owner), owner, new Date(), (time) => idAt('delivery', time)),
    /** The attempts of the last 24 hours. */
    health: async (owner: Owner, id: string) =>
      countAttempts(ofAccount(owner), await own(owner, id)),
    /** The recent attempts of all endpoints that are enabled. */
    recent: (owner: Owner) => countRecentAttempts(ofAccount(owner), owner.accountId, owner.mode),
    recover: async (owner: Owner, by: ChangedBy, id: string, since: Date): Promise<Recovered> => {
      const wish = { endpointId: await own(owner, id), since };
      const workflows = tools.webhookDeliveryWorkflows;
      const { retried, resumed, left } = await recoverWebhookDeliveries(db, by, workflows, wish);
      return { done: retried + resumed, left };
    },
    replay: async (owner: Owner, by: ChangedBy, id: string, since: Date): Promise<Recovered> => {
      const wish = { endpointId: await own(owner, id), since };
      const workflows = tools.webhookDeliveryWorkflows;
      const { created, left } = await replayMissing(db, by, workflows, wish);
      return { done: created, left };
    },
    deliveries: async (
      owner: Owner,
      endpointId: string,
      status: WebhookDeliveryStatus | undefined,
      limit: number,
      before: string | null,
    ) =>
      listWebhookDeliveries(ofAccount(owner), await own(owner, endpointId), status, limit, before),
    attempts: async (owner: Owner, id: string) =>
      listAttempts(ofAccount(owner), (await find.delivery(owner, id)).id),
    /** What is sent for an event; null: it is no longer stored. */
    body: (owner: Owner, eventId: string) => findEventBody(ofAccount(owner), owner, eventId),
    retry: async (owner: Owner, by: ChangedBy, id: string) => {
      const delivery = await find.delivery(owner, id);
      return retryWebhookDelivery(db, by, tools.webhookDeliveryWorkflows, delivery.id);
    },
  };
}
